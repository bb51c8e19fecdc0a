// Timelines: one lane per engine or per stream, to zoom into by dragging over the whole.

const timelines = (views) => ({
  title: "Timelines",
  short: "Timelines",

  controls(state, add) {
    [state.view] = narrow(views, add, [["device", "device or model"], ["timeline", "timeline", { of: named }]]);
    const streams = state.view.operations.stream.some(Boolean);
    add(choose("lanes", "one lane per", streams ? ["engine", "stream"] : ["engine"]));
  },

  show(state) {
    const { view } = state;
    const byStream = state.lanes === "stream";
    const operations = rowsOf(view.operations).filter((row) => !byStream || row.kind !== view.calls);
    const names = distinct(operations.map((row) => row.stream)).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    const lanes = byStream ? names.map((name) => name || "no stream") : view.lanes;
    const time = (value) => Number(value.toPrecision(6)).toString();
    const counted = (value) => (value >= 0 ? value : "");
    const rows = operations.map((row) => ({
      start: row.start, end: row.end, kind: row.kind, place: byStream ? names.indexOf(row.stream) : row.lane,
      tip: { operation: row.kind + (row.chunk >= 0 ? ` of chunk ${row.chunk}` : ""), [`from, ${view.unit}`]: time(row.start),
        [`to, ${view.unit}`]: time(row.end), [`lasts, ${view.unit}`]: time(row.end - row.start), engine: view.lanes[row.lane],
        stream: row.stream, "issued as": counted(row.operation), "hardware work queue": counted(row.channel), bytes: counted(row.bytes) },
    }));
    const kinds = Object.keys(view.colours);
    const byKind = (range) => ({ field: "kind", type: "nominal", scale: { domain: kinds, range: kinds.map(range) }, legend: null });
    const bars = (domain) => ({
      x: { field: "start", type: "quantitative", scale: { domain, nice: false, zero: false }, axis: null }, x2: { field: "end" },
      y: { field: "place", type: "ordinal", scale: { domain: lanes.map((_, i) => i) }, axis: null },
      color: byKind((kind) => view.colours[kind]),
      // The edge of a copy parts it from its neighbour; that of a kernel makes it visible however short it is.
      stroke: byKind((kind) => (kind === "kernels" ? view.colours[kind] : "#ffffff")),
    });
    const detail = bars({ param: "window" });
    const selected = { fill: "#000", fillOpacity: 0.1, stroke: "#000", strokeOpacity: 0.6 };
    const facts = Object.entries(view.about).map(([name, value]) =>
      `${name.replaceAll("_", " ")}: ${typeof value !== "number" ? value : name === "items" ? size(value) : number(value)}`);
    return {
      lanes: true,
      spec: (width) => ({
        data: { values: rows }, spacing: 6,
        vconcat: [
          { width, height: { step: 30 }, mark: { type: "bar", clip: true, strokeWidth: 0.5, height: { band: 0.82 }, aria: false },
            encoding: { ...detail, tooltip: { field: "tip", type: "nominal" },
              x: { ...detail.x, axis: { title: `time, ${view.unit}${view.simulated ? ", simulated" : ""}`, grid: true, tickCount: Math.max(3, width / 90) } },
              y: { ...detail.y, axis: { title: null, labelExpr: `${JSON.stringify(lanes)}[datum.value]`, ticks: false, domain: false } } } },
          { width, height: 34, title: { text: "the whole: drag over it to zoom", fontSize: 11, fontWeight: "normal", anchor: "start", color: "#5c5c5c" },
            params: [{ name: "window", select: { type: "interval", encodings: ["x"], mark: selected } }],
            mark: { type: "bar", strokeWidth: 0.3, aria: false }, encoding: bars([0, view.whole]) },
        ],
      }),
      description: `${named(view)}: ${rows.length} operations in ${lanes.length} lanes; the table has their times.`,
      legend: kinds.map((kind) => [`<span class="swatch" style="background:${view.colours[kind]}"></span>`, kind]),
      source: view.source,
      text: `${named(view)}: ${number(view.makespan)} ${view.unit} from the first start to the last end. ${view.fact} ` +
        (view.simulated ? "Simulated: nothing of it was measured. " : "The run of median time with tracing; a single run has no interval. ") +
        `Each bar is an operation, or a call while the host was in it. Facts: ${facts.join("; ")}.`,
      table: rows.map((row) => row.tip),
    };
  },
});

const named = (view) => view.title + (view.about.items ? `, ${size(view.about.items)} items` : "");
