// Shared by all views: numbers, looks, the chart of lines, controls and tables.
//
// A view is an object with `title`, `short` (its name in the navigation), `controls(state, add)`, which adds its controls
// one by one, each with the choices that those before it leave, and `show(state)`, which returns what is drawn and said.
// The state has the values of the controls; it lives behind the # of the address, so that what is seen can be kept.

const element = (id) => document.getElementById(id);

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

// ------------------------------------------------------------------------------------------------ numbers and words

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => ENTITIES[c]);
const known = (value) => value !== null && value !== undefined;
const spaced = (value, digits) => value.toLocaleString("en", { maximumSignificantDigits: digits }).replaceAll(",", "\u202f");
const number = (value) => (known(value) ? spaced(value, 4) : "");
const between = (low, high) => (known(low) ? `${number(low)} to ${number(high)}` : "none");
const isPower = (n) => Number.isInteger(Math.log2(n));
const size = (n) => (n >= 1024 && isPower(n) ? "2" + String(Math.log2(n)).replace(/\d/g, (d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[d]) : spaced(n, 21));

const distinct = (values) => [...new Set(values)];
const ascending = (values) => distinct(values).sort((a, b) => a - b);
const rowsOf = (columns) => Object.values(columns)[0].map((_, i) =>
  Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values[i]])));

// ------------------------------------------------------------------------------------------------------------ looks

const polygon = (points) => "M" + points.map(([x, y]) => `${x.toFixed(3)},${y.toFixed(3)}`).join("L") + "Z";
const round = (corners, turn = 0, radius = () => 1) => polygon(Array.from({ length: corners }, (_, i) => {
  const angle = (2 * Math.PI * i) / corners - Math.PI / 2 + turn;
  return [radius(i) * Math.cos(angle), radius(i) * Math.sin(angle)];
}));
// The markers of matplotlib that the looks of the analysis name, as paths within a square of side 2.
const MARKERS = {
  "": "M0,0", o: "M1,0A1,1,0,1,1,-1,0A1,1,0,1,1,1,0Z", s: "M-.85,-.85H.85V.85H-.85Z", D: round(4), d: "M0,-1L.6,0L0,1L-.6,0Z",
  "^": round(3), v: round(3, Math.PI), "<": round(3, -Math.PI / 2), ">": round(3, Math.PI / 2), p: round(5), h: round(6),
  "*": round(10, 0, (i) => (i % 2 ? 0.42 : 1.1)), P: "M-1,-.35H-.35V-1H.35V-.35H1V.35H.35V1H-.35V.35H-1Z",
  X: "M-1,-.5L-.5,-1L0,-.5L.5,-1L1,-.5L.5,0L1,.5L.5,1L0,.5L-.5,1L-1,.5L-.5,0Z",
};
const DASHES = { "-": [], "--": [6, 3], "-.": [6, 2, 1.5, 2], ":": [1.5, 2.5] };

const sample = (look, width = 1.6) =>
  `<svg class="look" viewBox="-22 -8 44 16" aria-hidden="true"><path d="M-22,0H22" stroke="${look.colour}" ` +
  `stroke-width="${width}" stroke-dasharray="${DASHES[look.line].join(" ")}"/><path d="${MARKERS[look.marker]}" ` +
  `transform="scale(4.5)" stroke="${look.colour}" stroke-width=".3" fill="${look.filled ? look.colour : "#fff"}"/></svg>`;

// ------------------------------------------------------------------------------------------------------------ lines

// A logarithmic axis in powers of two, with eleven labels at most.
function powersAxis(values) {
  const exponents = ascending(values.filter(isPower).map(Math.log2));
  const step = Math.ceil(exponents.length / 11);
  const ticks = exponents.filter((k) => (exponents.at(-1) - k) % step === 0).map((k) => 2 ** k);
  const labels = JSON.stringify(Object.fromEntries(ticks.map((n) => [n, size(n)])));
  const domain = [values[0] / 1.15, values.at(-1) * 1.15];
  return { scale: { type: "log", base: 2, domain, nice: false }, axis: { values: ticks, labelExpr: `${labels}[datum.value]` } };
}

// A logarithmic axis around all values, or a linear one from 0 to at least 1.
function valuesAxis(rows, log) {
  const ends = rows.flatMap((row) => [row.y, row.low ?? row.y, row.high ?? row.y]);
  const around = ends.length ? [Math.min(...ends) / 1.12, Math.max(...ends) * 1.12] : [1, 10];
  const scale = log ? { type: "log", domain: around } : { domain: [0, 1.05 * Math.max(1, ...ends)] };
  return { scale: { ...scale, nice: false }, axis: { format: "~g" } };
}

// Lines, intervals and points of several series. A row: series, x, y, low, high (null where not known), join: whether a
// line goes through it, tip: what is said of it. `bounds` names the series that are drawn as bounds: wide, below the rest.
function lines(rows, looks, bounds, x, y) {
  const domain = Object.keys(looks);
  const bySeries = (range) =>
    ({ field: "series", type: "nominal", scale: { domain, range: domain.map((name) => range(looks[name])) }, legend: null });
  const colour = bySeries((look) => look.colour);
  const at = { x: { field: "x", type: "quantitative", ...x }, y: { field: "y", type: "quantitative", ...y } };
  const stroked = (strokeWidth, bound) => ({
    data: { values: rows.filter((row) => row.join && bounds.includes(row.series) === bound) },
    mark: { type: "line", strokeWidth, clip: true, aria: false },
    encoding: { ...at, color: colour, strokeDash: bySeries((look) => DASHES[look.line]) },
  });
  const intervals = {
    data: { values: rows.filter((row) => known(row.low)) }, mark: { type: "rule", strokeWidth: 1.4, clip: true, aria: false },
    encoding: { x: at.x, y: { ...at.y, field: "low" }, y2: { field: "high" }, color: colour },
  };
  // The row of the nearest point is datum.datum; Vega-Lite 6.4 does not see to that itself (vega-lite pull request 9707).
  const points = {
    data: { values: rows },
    mark: { type: "point", opacity: 1, strokeWidth: 1.3, clip: true, aria: false, tooltip: { expr: "datum.tip || datum.datum.tip" } },
    params: [{ name: "near", select: { type: "point", on: "pointerover", nearest: true, clear: "pointerout" } }],
    encoding: { ...at, stroke: colour, fill: bySeries((look) => (look.filled ? look.colour : "#ffffff")),
      shape: bySeries((look) => MARKERS[look.marker]), size: { condition: { param: "near", empty: false, value: 190 }, value: 48 } },
  };
  return { layer: [stroked(2.6, true), stroked(1.5, false), intervals, points] };
}

// ---------------------------------------------------------------------------------------------- controls and tables

// A control: name, label, the value that is chosen at first, and options [value, text], or `checks`: boxes [value, look].
function controlHtml({ name, label, options, checks }, state) {
  const id = `control-${name}`;
  if (checks) {
    const boxes = checks.map(([value, look]) =>
      `<label><input type="checkbox" id="${id}-${escaped(value)}" data-name="${name}" value="${escaped(value)}"` +
      `${state.seen.includes(value) ? " checked" : ""}>${sample(look)}<span>${escaped(look.title)}</span></label>`);
    const buttons = ["all", "none"].map((text) =>
      `<button type="button" id="${id}-${text}" data-name="${name}" data-set="${text}">${text}</button>`);
    return `<fieldset><legend>${escaped(label)}</legend>${boxes.join("")}<span class="all">${buttons.join("")}</span></fieldset>`;
  }
  const offered = options.map(([value, text]) =>
    `<option value="${escaped(value)}"${value === state[name] ? " selected" : ""}>${escaped(text)}</option>`);
  return `<label for="${id}">${escaped(label)}<select id="${id}" data-name="${name}">${offered.join("")}</select></label>`;
}

const choose = (name, label, values, first = values[0], text = (value) => value) =>
  ({ name, label, options: values.map((value) => [value, text(value)]), first });

// Gives a control a value that it offers, and returns it: the wanted one if it can be had, else the first choice.
function settle(state, { name, options, checks, first }) {
  // The boxes asked for are kept, since another type or device may offer more of them; seen are those that are offered.
  if (checks) return (state.seen = checks.map(([value]) => value).filter((value) => (state[name] ?? first).includes(value)));
  const offered = options.map(([value]) => value);
  return (state[name] = offered.find((value) => String(value) === String(state[name])) ?? first);
}

// Adds choices [name, label, usual value, value of a row] one by one, and returns the rows that they leave. Chosen at first
// is the usual value, else the number of most rows, else the first word.
function narrow(rows, add, choices) {
  return choices.reduce((left, [name, label, usual, of = (row) => row[name]]) => {
    const values = distinct(left.map(of));
    const count = (value) => left.filter((row) => of(row) === value).length;
    const numbers = values.every(Number.isFinite);
    const first = numbers ? [...values].sort((a, b) => count(b) - count(a) || b - a)[0] : values.includes(usual) ? usual : values[0];
    const value = add(choose(name, label, numbers ? ascending(values) : values, first));
    return left.filter((row) => of(row) === value);
  }, rows);
}

function tableHtml(rows) {
  const head = Object.keys(rows[0] ?? {}).map((name) => `<th scope="col">${escaped(name)}</th>`);
  const body = rows.map((row) => `<tr>${Object.values(row).map((cell) => `<td>${escaped(cell ?? "")}</td>`).join("")}</tr>`);
  return `<table><thead><tr>${head.join("")}</tr></thead><tbody>${body.join("")}</tbody></table>`;
}
