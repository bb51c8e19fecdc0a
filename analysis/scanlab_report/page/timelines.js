// Timelines: one lane per engine or per stream, to zoom into.

const ABOUT = { simulated_on: "profile", overlap: "overlap, share of the possible", tracing_overhead_percent: "tracing overhead, %" };

const timelines = (views) => ({
  title: "Timelines",
  short: "Timelines",

  controls(state, add) {
    const before = state.view;
    const view = chooseView(state, add, views, "timeline", "timeline", named, "device or model");
    add(choose("lanes", "one lane per", distinct(view.operations.stream).some(Boolean) ? ["engine", "stream"] : ["engine"]));
    if (before !== undefined && before !== view) Object.assign(state, { from: undefined, to: undefined }); // another is seen whole
    const { unit, whole } = view;
    add({ name: "from", label: `from, ${unit}`, number: true, first: 0 });
    add({ name: "to", label: `to, ${unit}`, number: true, first: whole });
    for (const [name, label] of [["in", "zoom in"], ["out", "zoom out"], ["earlier", "← earlier"], ["later", "later →"], ["whole", "whole"]]) add({ name, label, button: true });
  },

  act(state, name) {
    const { whole } = state.view;
    const span = state.to - state.from;
    const wider = { in: 0.5, out: 2, earlier: 1, later: 1, whole: whole / span }[name];
    const shift = { earlier: -0.5 * span, later: 0.5 * span }[name] ?? 0;
    const width = Math.min(whole, span * wider);
    const from = Math.min(Math.max(0, (state.from + state.to - width) / 2 + shift), whole - width);
    Object.assign(state, { from: rounded(from), to: rounded(from + width) });
  },

  show(state) {
    const { view } = state;
    [state.from, state.to] = state.from < state.to ? [state.from, state.to] : [0, view.whole];
    const engine = (row) => view.lanes[row.lane];
    const byStream = state.lanes === "stream";
    const operations = rowsOf(view.operations).filter((row) => !byStream || row.kind !== view.calls);
    const streams = distinct(operations.map((row) => row.stream)).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    const lanes = byStream ? streams.map((name) => name || "no stream") : view.lanes;
    const bytes = (row) => (row.bytes > 0 ? { "bytes": number(row.bytes), ...(view.unit === "ms" ? { "GB/s": number(row.bytes / (row.end - row.start) / 1e6) } : {}) } : {});
    const said = (value) => (value >= 0 ? value : "");
    const rows = operations.map((row) => ({
      start: row.start, end: row.end, kind: row.kind, place: byStream ? streams.indexOf(row.stream) : row.lane,
      tip: { operation: row.kind + (row.chunk >= 0 ? ` of chunk ${row.chunk}` : ""), [`from, ${view.unit}`]: fine(row.start), [`to, ${view.unit}`]: fine(row.end),
        [`lasts, ${view.unit}`]: fine(row.end - row.start), engine: engine(row), stream: row.stream, ...(row.operation >= 0 ? { "issued as": `operation ${row.operation}` } : {}),
        ...(row.channel >= 0 ? { "hardware work queue": row.channel } : {}), ...bytes(row) },
    }));
    const kinds = Object.keys(view.colours);
    const encoding = (domain) => ({
      x: { field: "start", type: "quantitative", scale: { domain, nice: false, zero: false }, axis: null }, x2: { field: "end" },
      y: { field: "place", type: "ordinal", scale: { domain: lanes.map((_, i) => i) }, axis: null },
      color: { field: "kind", type: "nominal", scale: { domain: kinds, range: kinds.map((kind) => view.colours[kind]) }, legend: null },
    });
    // The edge of a copy parts it from its neighbour; that of a kernel makes it visible however short it is.
    const edge = { field: "kind", type: "nominal", scale: { domain: kinds, range: kinds.map((kind) => (kind === "kernels" ? view.colours[kind] : "#ffffff")) }, legend: null };
    const whole = [0, view.whole];
    // Where all is seen no window is drawn: there is nothing to move, and dragging makes one.
    const chosen = state.from > 0 || state.to < view.whole ? { value: { x: [state.from, state.to] } } : {};
    const detail = encoding({ param: "window" });
    const table = () => {
      const within = operations.filter((row) => row.end >= state.from && row.start <= state.to);
      return { columns: ["operation", "chunk", `from, ${view.unit}`, "to", "lasts", "engine", "stream", "issued as", "queue", "bytes"],
        rows: within.map((row) => [row.kind, said(row.chunk), fine(row.start), fine(row.end), fine(row.end - row.start), engine(row), row.stream, said(row.operation), said(row.channel), said(row.bytes)]) };
    };
    const about = Object.entries(view.about).map(([name, value]) => `${ABOUT[name] ?? name}: ${typeof value === "number" ? (name === "items" ? powerOfTwo(value) : number(value)) : value}`);
    return {
      rows, window: true,
      spec: (width) => ({
        data: { values: rows }, spacing: 6,
        vconcat: [
          { width, height: { step: 30 }, mark: { type: "bar", clip: true, strokeWidth: 0.5, height: { band: 0.82 }, aria: false },
            encoding: { ...detail, stroke: edge, x: { ...detail.x, axis: { title: `time, ${view.unit}${view.simulated ? ", simulated" : ""}`, grid: true, tickCount: Math.max(3, width / 90) } },
              y: { ...detail.y, axis: { title: null, labelExpr: `${JSON.stringify(lanes)}[datum.value]`, ticks: false, domain: false } },
              tooltip: { field: "tip", type: "nominal" } } },
          { width, height: 34, title: { text: "the whole: drag over it to zoom", fontSize: 11, fontWeight: "normal", anchor: "start", color: "#5c5c5c" },
            params: [{ name: "window", select: { type: "interval", encodings: ["x"], mark: { fill: "#000", fillOpacity: 0.1, stroke: "#000", strokeOpacity: 0.6 } }, ...chosen }],
            mark: { type: "bar", strokeWidth: 0.3, aria: false }, encoding: { ...encoding(whole), stroke: edge } },
        ],
      }),
      description: `${named(view)}: ${rows.length} operations in ${lanes.length} lanes; the table has their times.`,
      swatches: kinds.map((kind) => [view.colours[kind], kind]),
      source: view.source,
      text: `${named(view)}: ${number(view.makespan)} ${view.unit} from the first start to the last end. ` + (view.fact ? `${view.fact} ` : "") +
        (view.simulated ? "Simulated: nothing of it was measured. " : "The run of median time with tracing; a single run has no interval. ") +
        "Each bar is an operation, from its start to its end" + (kinds.includes(view.calls) ? ", or a call, while the host was in it. " : ". ") + capital(about.join("; ")) + ".",
      table,
    };
  },
});

const named = (view) => view.title + (view.about.items ? `, ${powerOfTwo(view.about.items)} items` : "");
const rounded = (milliseconds) => Number(milliseconds.toFixed(6));
const fine = (milliseconds) => Number(milliseconds.toPrecision(6)).toString();
