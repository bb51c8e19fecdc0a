// Schedules of copies and kernels against the number of chunks, or of streams.

const TIGHT = "pipeline estimate";
const BOUND_WORDS = {
  "serial sum": "all copies and kernels one after another",
  [TIGHT]: "the least time if copies in both directions slow each other down, and one chunk passes to and from the busiest engine",
  "Van Werkhoven": "the same with the copy rates of one direction alone",
};
const MEASURES = { time: "time, ms", bound: `time / ${TIGHT}`, speedup: "speedup over serial" };

function leastOf(rows, state, label) {
  const first = fastest(rows, state.measure !== "speedup");
  return !first ? "" : `${first.series} with ${first.of.chunks} chunks and ${first.of.streams} streams is the fastest shown (${label}: ${number(first.y)}). `;
}

const problemOf = (view) => `${view.workload}, ${powerOfTwo(view.items)} items, work ${view.work}${view.blocks ? `, ${view.blocks} blocks` : ""}; ${view.title}`;

const schedules = (views) => ({
  title: "Schedules of copies and kernels",
  short: "Schedules",

  controls(state, add) {
    const view = chooseView(state, add, views, "problem", "workload", problemOf);
    const { cases } = view;
    const memory = add(choose("memory", "memory", distinct(cases.memory).sort().reverse()));
    let places = cases.id.map((_, i) => i).filter((i) => cases.memory[i] === memory);
    const over = add(choose("over", "against", ["chunks", "streams"], (v) => `number of ${v}`));
    const fixed = over === "chunks" ? "streams" : "chunks";
    const counts = ascending(places.map((i) => cases[fixed][i]));
    // At first that at which most was timed, as in the figures.
    const timed = (value) => places.filter((i) => cases[fixed][i] === value).map((i) => cases[over][i]);
    const more = (a, b) => distinct(timed(a)).length - distinct(timed(b)).length || timed(a).length - timed(b).length || a - b;
    const value = add({ ...choose("fixed", fixed, counts), first: [...counts].sort(more).at(-1) });
    places = places.filter((i) => cases[fixed][i] === value);
    const known = { time: true, bound: places.some((i) => view.bounds[TIGHT].ms[i] !== null), speedup: places.some((i) => cases.speedup[i] !== null) };
    add(choose("measure", "show", Object.keys(MEASURES).filter((name) => known[name]), (name) => MEASURES[name]));
    const present = distinct(places.map((i) => cases.id[i])).sort();
    add({ name: "schedules", label: "schedules", checks: present.map((id) => [id, view.looks[id]]), first: present });
  },

  show(state) {
    const { view } = state;
    const fixed = state.over === "chunks" ? "streams" : "chunks";
    const label = state.measure === "speedup" ? `speedup over ${view.serial}` : MEASURES[state.measure];
    const cases = rowsOf({ ...view.cases, place: view.cases.id.map((_, i) => i) })
      .filter((of) => of.memory === state.memory && of[fixed] === state.fixed);
    const bound = (of, name) => view.bounds[name].ms[of.place];
    const columns = state.measure === "speedup" ? "speedup" : "time_ms";
    const scaled = (of, value) => (value === null ? null : state.measure === "bound" ? value / bound(of, TIGHT) : value);
    const rows = cases.filter((of) => state.seen.schedules.includes(of.id) && of[columns] !== null && (state.measure !== "bound" || bound(of, TIGHT) !== null))
      .map((of) => ({ series: of.id, x: of[state.over], y: scaled(of, of[columns]), low: scaled(of, of[`${columns}_low`]), high: scaled(of, of[`${columns}_high`]), join: true, of }));
    for (const r of rows) {
      const { of } = r;
      r.tip = { schedule: of.id, chunks: of.chunks, streams: of.streams, [label]: number(r.y), "95% interval": between(r.low, r.high), "time, ms": number(of.time_ms),
        repetitions: of.count, ...(of.buffers ? { buffers: of.buffers } : {}),
        ...Object.fromEntries(Object.keys(view.bounds).filter((name) => bound(of, name) !== null).map((name) => [`${name}, ms`, number(bound(of, name))])) };
    }
    // One value of each bound at each x, and nothing in the view of speedups, whose base is another case.
    const limits = state.measure === "speedup" ? [] : Object.keys(view.bounds).flatMap((name) =>
      ascending(cases.map((of) => of[state.over])).map((x) => cases.find((of) => of[state.over] === x))
        .map((of) => ({ series: name, x: of[state.over], y: scaled(of, bound(of, name)), low: null, high: null, join: true })).filter((r) => r.y !== null));
    const looks = { ...view.bounds, ...view.looks };
    const ticks = ascending(cases.map((of) => of[state.over]));
    const drawn = distinct(limits.map((r) => r.series));
    return {
      rows,
      spec: () => lines([...limits, ...rows], looks, Object.keys(view.bounds),
        { title: `number of ${state.over}`, scale: { type: "log", base: 2, domain: [ticks[0] / 1.15, ticks.at(-1) * 1.15], nice: false }, axis: { values: ticks, format: "d" } },
        { title: label, ...(state.measure === "speedup" ? linear([...rows, { y: 1 }]) : logarithmic([...limits, ...rows])) }),
      description: `${label} against the number of ${state.over}, ${distinct(rows.map((r) => r.series)).length} schedules; the table has the numbers.`,
      legend: drawn.map((name) => [view.bounds[name], `${name}: ${BOUND_WORDS[name] ?? ""}`]),
      source: view.source,
      text: `${leastOf(rows, state, label)}${view.workload}, ${powerOfTwo(view.items)} items, ${view.title}, ${state.memory} memory, ${state.fixed} ${fixed}. Points are medians of the repetitions; vertical bars are 95% ` +
        `intervals${state.measure === "speedup" ? ` over ${view.serial} at its fastest` : ""}. ` +
        `Lines come from copies and kernels timed alone in the same run. Concurrent kernels can beat the ${TIGHT}. ${view.side}`,
      table: { columns: ["schedule", "chunks", "streams", label, "95% from", "to", "time, ms", "repetitions", ...Object.keys(view.bounds).map((name) => `${name}, ms`)],
        rows: rows.map((r) => [r.series, r.of.chunks, r.of.streams, number(r.y), number(r.low), number(r.high), number(r.of.time_ms), r.of.count,
          ...Object.keys(view.bounds).map((name) => number(bound(r.of, name)))]) },
    };
  },
});
