// Scans against the number of items.

const MICRO = 1e-3;
const QUANTITIES = {
  share: { label: "share of memcpy", of: (ratio) => ratio, column: "share" },
  byte: { label: "time per byte, ps", log: true, of: (ns, view, n) => (1e3 * ns) / (view.bytes_an_item * n), column: "time_ns" },
  time: { label: "time, µs", log: true, of: (ns) => ns * MICRO, column: "time_ns" },
  rate: { label: "throughput, GB/s", log: true, of: (ns, view, n) => (view.bytes_an_item * n) / ns, column: "time_ns", falls: true },
  speedup: { label: "speedup over the fastest CUB", of: (ratio) => ratio, column: "speedup" },
};
const LAUNCHED = { stream: "in a stream", graph: "in a graph" };
const FIRST = ["warm", "cold", "graph", "stream"]; // the last come first
const FLOOR = "empty launch, the floor";
const DEFAULT = "default";
const [variantOf, settingsOf] = [(series) => series.split(" ")[0], (series) => series.split(" ").slice(1).join(" ")];

const scans = (views) => ({
  title: "Scans against the number of items",
  short: "Scans",

  // Each choice narrows the next.
  controls(state, add) {
    let left = views;
    for (const [name, label] of [["device", "device"], ["type", "type"], ["op", "operator"], ["mode", "scan"]]) {
      const value = add(choose(name, label, distinct(left.map((view) => view[name]))));
      left = left.filter((view) => view[name] === value);
    }
    const [view] = left;
    state.view = view;
    let places = view.cases.items.map((_, i) => i);
    for (const name of ["cache", "launch"]) {
      const of = view.cases[name];
      const value = add(choose(name, name === "launch" ? "launched" : name, distinct(places.map((i) => of[i])).sort((a, b) => FIRST.indexOf(b) - FIRST.indexOf(a)), (v) => LAUNCHED[v] ?? v));
      places = places.filter((i) => of[i] === value);
    }
    const known = Object.keys(QUANTITIES).filter((name) => places.some((i) => view.cases[QUANTITIES[name].column][i] !== null));
    add(choose("quantity", "show", known, (name) => QUANTITIES[name].label));
    const sizes = ascending(places.map((i) => view.cases.items[i]).filter((n) => Number.isInteger(Math.log2(n))));
    const from = add({ ...choose("from", "from n", sizes, powerOfTwo), first: sizes.find((n) => n >= 1024) ?? sizes[0] });
    add({ ...choose("to", "to n", sizes.filter((n) => n >= from), powerOfTwo), first: sizes.at(-1) });
    const present = distinct(places.map((i) => view.cases.variant[i])).filter((variant) => variant !== view.ceiling);
    const drawn = Object.keys(view.looks).filter((series) => present.includes(series) && !settingsOf(series));
    const usual = drawn.filter((variant) => view.shown.includes(variant));
    add({ name: "variants", label: "variants and baselines", checks: drawn.map((variant) => [variant, view.looks[variant]]), first: usual.length ? usual : drawn });
    // Other settings of one variant at a time: a name of its own for each, so that what is chosen of it is kept.
    const others = present.filter(settingsOf);
    if (!others.length) { state.settings = DEFAULT; return; }
    const of = add(choose("settings", "settings", [DEFAULT, ...distinct(others.map(variantOf)).sort()], (value) => (value === DEFAULT ? "each variant's own" : `and others of ${value}`)));
    const series = Object.keys(view.looks).filter((other) => others.includes(other) && variantOf(other) === of);
    if (series.length) add({ name: `settings_${of}`, label: `${of} with other settings`, checks: series.map((other) => [other, view.looks[other]]), first: series });
  },

  show(state) {
    const { view } = state;
    const quantity = QUANTITIES[state.quantity];
    const cases = rowsOf(view.cases).filter((row) => row.cache === state.cache && row.launch === state.launch && row.items >= state.from && row.items <= state.to);
    const row = (series, n, values, rest) => {
      const [y, a, b] = values.map((value) => (value === null ? null : quantity.of(value, view, n)));
      return { series, x: n, y, low: quantity.falls ? b : a, high: quantity.falls ? a : b, join: Number.isInteger(Math.log2(n)), ...rest };
    };
    const chosen = [...state.seen.variants, ...((state.settings !== DEFAULT && state.seen[`settings_${state.settings}`]) || [])];
    const shown = cases.filter((of) => of.variant === view.ceiling || chosen.includes(of.variant));
    const rows = shown.map((of) => row(of.variant, of.items, ["", "_low", "_high"].map((bound) => of[quantity.column + bound]), { of }))
      .filter((r) => r.y !== null);
    for (const r of rows) {
      r.tip = { variant: view.looks[r.series].title, n: powerOfTwo(r.x), [quantity.label]: number(r.y), "95% interval": between(r.low, r.high),
        "time, µs": `${number(r.of.time_ns * MICRO)} (${between(r.of.time_ns_low && r.of.time_ns_low * MICRO, r.of.time_ns_high && r.of.time_ns_high * MICRO)})`,
        repetitions: r.of.count };
      if (state.quantity === "speedup") r.tip["fastest CUB"] = view.looks[r.of.rival].title;
    }
    const floor = floorRows(view, state, cases, quantity, row);
    const looks = { [FLOOR]: view.floor, ...view.looks };
    const sizes = ascending(rows.map((r) => r.x));
    return {
      rows,
      spec: (width) => lines([...floor, ...rows], looks, [FLOOR, view.ceiling],
        { title: "items n", scale: { type: "log", base: 2, domain: [state.from, Math.max(state.to, state.from * 2)], nice: false }, axis: powersAxis(state.from, state.to, width / 45) },
        { title: quantity.label, ...(quantity.log ? logarithmic(rows) : linear([...rows, { y: 1 }])) }),
      description: `${quantity.label} against the number of items, ${distinct(rows.map((r) => r.series)).length} variants, ${sizes.length} sizes; the table has the numbers.`,
      legend: [view.ceiling, FLOOR].filter((name) => [...rows, ...floor].some((r) => r.series === name)).map((name) => [looks[name], name === FLOOR ? `${FLOOR} (${number(floorOf(view, state) * MICRO)} µs)` : "memcpy of the same bytes"]),
      source: view.source,
      text: `${fastestOf(rows, view, quantity)}${capital(view.mode)} scan with ${view.op} of ${view.type}, ${state.cache} cache, ${state.launch === "graph" ? "as part of a captured graph" : "launched in a stream"}; ` +
        `variants with their default settings${state.settings === DEFAULT ? "" : `, and others of ${state.settings}`}. Points are medians of the repetitions; vertical bars are 95% intervals, mostly smaller than the points. ` +
        `Lines join powers of two. ` +
        (state.quantity === "speedup" ? "Above 1 a scan is faster than the fastest CUB scan. " : "") +
        (state.quantity === "share" ? "At 1 a scan is as fast as a copy of the same bytes. " : ""),
      table: { columns: ["variant", "n", quantity.label, "95% from", "to", "time, µs", "repetitions"],
        rows: rows.map((r) => [view.looks[r.series].title, powerOfTwo(r.x), number(r.y), number(r.low), number(r.high), number(r.of.time_ns * MICRO), r.of.count]) },
    };
  },
});

// What one sees first: the fastest series at the largest size.
function fastestOf(rows, view, quantity) {
  const largest = Math.max(...rows.map((row) => row.x));
  const there = rows.filter((row) => row.x === largest && row.series !== view.ceiling);
  const first = fastest(there, [QUANTITIES.byte, QUANTITIES.time].includes(quantity));
  return !first ? "" : `At n = ${powerOfTwo(largest)}, ${view.looks[first.series].title} is the fastest shown (${quantity.label}: ${number(first.y)}). `;
}

const floorOf = (view, state) => view.floor_ns[`${state.cache} ${state.launch}`];

// What an empty launch would reach: its time at every size, or as a ratio, the time of what the ratio is against over it.
function floorRows(view, state, cases, quantity, row) {
  const floor = floorOf(view, state);
  if (floor === null) return [];
  const times = Object.fromEntries(cases.map((of) => [`${of.variant} ${of.items}`, of.time_ns]));
  const rivals = Object.fromEntries(cases.map((of) => [of.items, of.rival]));
  const against = { share: () => view.ceiling, speedup: (n) => rivals[n] }[state.quantity];
  const value = (n) => (against ? times[`${against(n)} ${n}`] / floor : floor);
  // As far as it says something: beyond, the copy is the bound.
  return ascending(cases.map((of) => of.items)).filter((n) => Number.isInteger(Math.log2(n)) && floor > 0.2 * (times[`${view.ceiling} ${n}`] ?? floor))
    .map((n) => row(FLOOR, n, [value(n), null, null], {})).filter((r) => Number.isFinite(r.y));
}

function powersAxis(from, to, most) {
  const exponents = [];
  for (let k = Math.ceil(Math.log2(from)); k <= Math.log2(to); ++k) exponents.push(k);
  const step = Math.ceil(exponents.length / Math.min(11, most));
  const values = exponents.filter((k) => (exponents.at(-1) - k) % step === 0).map((k) => 2 ** k);
  return { values, labelExpr: `${JSON.stringify(Object.fromEntries(values.map((n) => [n, powerOfTwo(n)])))}[datum.value]` };
}

// Scans again, which begin with their speedup.
const speedups = (views) => ({
  ...scans(views),
  title: "Speedup over the fastest CUB scan",
  short: "Speedups",

  controls(state, add) {
    state.quantity ??= "speedup";
    scans(views).controls(state, add);
  },
});
