// Views of lines: scans by items, schedules by chunks.

// `about` has the names of the columns of the `series` and of `x`; the choices of a view (`views`) and of its cases; its
// `rows`, with those of its `bounds`, whose looks have a title of their own; and the `measures`, of which one is shown.
const curves = (about) => (views) => ({
  title: about.title,
  short: about.short,

  controls(state, add) {
    [state.view] = narrow(views, add, about.views);
    const { view } = state;
    const rows = (state.rows = narrow(about.rows(view), add, about.cases));
    const offered = Object.keys(about.measures).filter((name) => rows.some((row) => known(row[columnOf(about, name)])));
    add(choose("measure", "show", offered, offered[0], (name) => about.measures[name].label));
    const series = new Set(rows.map((row) => row[about.series]));
    const present = Object.keys(view.looks).filter((name) => series.has(name) && !(name in about.bounds(view)));
    const usual = present.filter((name) => view.shown?.includes(name));
    add({ name: "series", label: about.label, checks: present.map((name) => [name, view.looks[name]]), first: usual.length ? usual : present });
  },

  show(state) {
    const { view } = state;
    const bounds = about.bounds(view);
    const looks = { ...view.looks, ...bounds };
    const { label, log, of = (value) => value } = about.measures[state.measure];
    const column = columnOf(about, state.measure);
    const twice = new Set(); // a bound has one value at each x
    const rows = state.rows.filter((row) => known(row[column]) && (row[about.series] in bounds || state.seen.includes(row[about.series]))).map((row) => {
      const [y, ...ends] = ["", "_low", "_high"].map((end) => row[column + end]).map((value) => (known(value) ? of(value, row, view) : null));
      const [low, high] = ends[0] > ends[1] ? ends.reverse() : ends;
      const [series, x] = [row[about.series], row[about.x]];
      const tip = { [about.label]: looks[series].title, [about.unit]: size(x), [label]: number(y), "95% interval": between(low, high) };
      return { series, x, y, low, high, join: isPower(x), tip: { ...tip, ...about.tip(row) } };
    }).filter(({ series, x }) => !(series in bounds) || (!twice.has(series + x) && twice.add(series + x)));
    const free = rows.filter((row) => !(row.series in bounds));
    return {
      spec: lines(rows, looks, Object.keys(bounds), { title: about.unit, ...powersAxis(ascending(state.rows.map((row) => row[about.x]))) },
        { title: label, ...valuesAxis(log ? rows : free, log) }),
      description: `${label} by ${about.unit}, ${distinct(free.map((row) => row.series)).length} series; the table has the numbers.`,
      legend: Object.entries(bounds).filter(([name]) => rows.some((row) => row.series === name)).map(([, look]) => [sample(look, 2.6), look.title]),
      source: view.source,
      text: `${about.text(state, view)} Points are medians; vertical bars are 95% intervals.`,
      table: rows.map((row) => row.tip),
    };
  },
});

const columnOf = (about, measure) => about.measures[measure].column ?? measure;

const scans = curves({
  title: "Scans against the number of items", short: "Scans",
  series: "variant", label: "variants and baselines", x: "items", unit: "items",
  views: [["device", "device"], ["type", "type"], ["op", "operator"], ["mode", "scan"]],
  cases: [["cache", "cache", "cold"], ["launch", "launched in a", "stream"]],
  rows: (view) => rowsOf(view.cases),
  bounds: (view) => view.bounds,
  measures: {
    share: { label: "share of memcpy" },
    net: { label: "share of memcpy, each less an empty launch" },
    time: { label: "time, µs", column: "time_ns", log: true, of: (ns) => ns / 1e3 },
    rate: { label: "throughput, GB/s", column: "time_ns", log: true, of: (ns, row, view) => (view.bytes_per_item * row.items) / ns },
    speedup: { label: "speedup over the fastest CUB" },
  },
  tip: (row) => ({ "time, µs": number(row.time_ns / 1e3), repetitions: row.count || "" }),
  text: ({ cache, launch, measure }, { type, op, mode }) => `Scan with ${op} of ${type}, ${mode}, ${cache} cache, launched in a ${launch}; ` +
    `default settings. ${measure === "share" ? "At 1 a scan is as fast as a copy of the same bytes. " : ""}Lines join powers of two.`,
});

const BOUNDS = {
  "serial sum": "all copies and kernels one after another",
  "pipeline estimate": "the least time if copies in both directions slow each other down, and one chunk passes to and from the busiest engine",
  "Van Werkhoven": "the same with the copy rates of one direction alone",
};
const problem = ({ workload, items, work, blocks, title }) =>
  `${workload}, ${size(items)} items, work ${work}${blocks ? `, ${blocks} blocks` : ""}; ${title}`;

const schedules = curves({
  title: "Schedules of copies and kernels", short: "Schedules",
  series: "id", label: "schedules", x: "chunks", unit: "chunks",
  views: [["device", "device"], ["problem", "workload", "", problem]],
  cases: [["memory", "memory", "pinned"], ["streams", "streams"]],
  // A bound has a time for each case; the first with so many chunks is drawn.
  rows: (view) => [...rowsOf(view.cases), ...Object.entries(view.bounds).flatMap(([id, { ms }]) =>
    rowsOf(view.cases).map(({ memory, streams, chunks }, i) => ({ id, memory, streams, chunks, time_ms: ms[i] })))],
  bounds: ({ bounds }) => Object.fromEntries(Object.entries(bounds).map(([name, look]) => [name, { ...look, title: `${name}: ${BOUNDS[name]}` }])),
  measures: { time_ms: { label: "time, ms", log: true }, speedup: { label: "speedup over serial" } },
  tip: (row) => ({ "time, ms": number(row.time_ms), repetitions: row.count || "", buffers: row.buffers || "" }),
  text: ({ memory, streams, measure }, view) => `${problem(view)}, ${memory} memory, ${streams} streams. ` +
    (measure === "speedup" ? `Speedups are over ${view.serial} at its fastest. ` : "") +
    `Bounds come from copies and kernels timed alone in the same run; concurrent kernels can beat them. ${view.side}`,
});
