// Scans of one array over several GPUs against the items per GPU.

const RANK_MEASURES = {
  time_us: { label: "time, µs", bound: true },
  rate: { label: "throughput of all GPUs, GB/s", bound: true },
  of_copy: { label: "share of copies on all GPUs" },
  of_vendor: { label: "speedup over CUB and NCCL" },
};

const severalGpus = (views) => ({
  title: "Scans over several GPUs",
  short: "Several GPUs",

  // Each choice narrows the next.
  controls(state, add) {
    const device = add(choose("device", "device", distinct(views.map((view) => view.device))));
    state.view = views.find((view) => view.device === device);
    const { cases, looks } = state.view;
    let places = cases.type.map((_, i) => i);
    for (const [name, label] of [["type", "type"], ["op", "operator"], ["mode", "scan"], ["ranks", "GPUs"]]) {
      const offered = distinct(places.map((i) => cases[name][i]));
      const most = offered.map((value) => places.filter((i) => cases[name][i] === value).length);
      const first = name === "ranks" ? Math.max(...offered) : offered[most.indexOf(Math.max(...most))]; // as the figures have it
      const value = add({ ...choose(name, label, name === "ranks" ? ascending(offered) : offered), first });
      places = places.filter((i) => cases[name][i] === value);
    }
    const known = Object.keys(RANK_MEASURES).filter((name) => places.some((i) => cases[name][i] !== null));
    add({ ...choose("measure", "show", known, (name) => RANK_MEASURES[name].label), first: known.includes("of_copy") ? "of_copy" : known[0] });
    const present = Object.keys(looks).filter((of) => places.some((i) => cases.algorithm[i] === of));
    add({ name: "algorithms", label: "algorithms", checks: present.map((of) => [of, looks[of]]), first: present });
  },

  show(state) {
    const { view } = state;
    const { label, bound } = RANK_MEASURES[state.measure];
    const same = (of) => ["type", "op", "mode", "ranks"].every((name) => of[name] === state[name]);
    const row = (series, of, rest) => ({ series, x: of.items, y: of[state.measure], low: of[`${state.measure}_low`] ?? null, high: of[`${state.measure}_high`] ?? null, join: true, ...rest });
    const rows = rowsOf(view.cases).filter((of) => same(of) && of[state.measure] !== null && state.seen.algorithms.includes(of.algorithm))
      .map((of) => row(of.algorithm, of, { of })).sort((a, b) => a.x - b.x);
    for (const r of rows) {
      r.tip = { algorithm: r.series, "items per GPU": powerOfTwo(r.x), [label]: number(r.y), "95% interval": between(r.low, r.high), "time, µs": number(r.of.time_us), repetitions: r.of.count,
        ...(r.of.settings ? { settings: r.of.settings } : {}) };
    }
    const copies = bound ? rowsOf(view.copies).filter(same).map((of) => row(view.copy, of)).sort((a, b) => a.x - b.x) : [];
    const sizes = ascending(rows.map((r) => r.x));
    const first = fastest(rows.filter((r) => r.x === sizes.at(-1)), state.measure === "time_us");
    return {
      rows,
      spec: (width) => lines([...copies, ...rows], view.looks, [view.copy],
        { title: "items per GPU", scale: { type: "log", base: 2, domain: [sizes[0] / 1.3, sizes.at(-1) * 1.3], nice: false }, axis: powersAxis(sizes[0], sizes.at(-1), width / 50) },
        { title: label, ...(bound ? logarithmic([...copies, ...rows]) : linear([...rows, { y: 1 }])) }),
      description: `${label} against the items per GPU, ${distinct(rows.map((r) => r.series)).length} algorithms; the table has the numbers.`,
      legend: copies.length ? [[view.looks[view.copy], `${view.copy}: a copy on every GPU at once`]] : [],
      source: view.source,
      text: `${first ? `With ${powerOfTwo(first.x)} items per GPU, ${first.series} is the fastest shown (${label}: ${number(first.y)}). ` : ""}One array over ${state.ranks} GPUs, ${state.mode} scan of ${state.type}, ` +
        `operator ${state.op}. Each time is that of the slowest GPU, warm, in a stream. Points are medians; vertical bars are 95% intervals. CUB and NCCL are ${view.vendor}.`,
      table: { columns: ["algorithm", "items per GPU", label, "95% from", "to", "time, µs", "repetitions", "settings"],
        rows: rows.map((r) => [r.series, powerOfTwo(r.x), number(r.y), number(r.low), number(r.high), number(r.of.time_us), r.of.count, r.of.settings]) },
    };
  },
});
