// What all views share: the data, the controls, the chart, the caption and the table.
//
// A view is an object with `title`, `short` (its name in the navigation), `controls(state, add)`, which adds its controls
// one by one, each with the choices that those before it leave, and `show(state)`, which gives what is drawn, said and
// tabulated. The state is what the controls say; it lives behind the # of the address, so that what is seen can be kept.

const element = (id) => document.getElementById(id);

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

// ------------------------------------------------------------------------------------------------ numbers and words

const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const spaced = (value, digits) => value.toLocaleString("en", { maximumSignificantDigits: digits }).replaceAll(",", "\u202f");
const number = (value) => (value === null || value === undefined ? "" : spaced(value, 4));
const between = (low, high) => (low === null ? "none" : `${number(low)} to ${number(high)}`);
const capital = (text) => text[0].toUpperCase() + text.slice(1);

function powerOfTwo(n) {
  const exponent = Math.log2(n);
  return Number.isInteger(exponent) ? "2" + String(exponent).replace(/\d/g, (d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[d]) : spaced(n, 21);
}

const distinct = (values) => [...new Set(values)];
const ascending = (values) => distinct(values).sort((a, b) => a - b);
const rowsOf = (columns) => Object.values(columns)[0].map((_, i) => Object.fromEntries(Object.entries(columns).map(([name, of]) => [name, of[i]])));

// ------------------------------------------------------------------------------------------------------------ looks

const polygon = (points) => "M" + points.map(([x, y]) => `${x.toFixed(3)},${y.toFixed(3)}`).join("L") + "Z";
const round = (corners, radius = () => 1, turn = 0) => polygon(Array.from({ length: corners }, (_, i) => {
  const angle = (2 * Math.PI * i) / corners - Math.PI / 2 + turn;
  return [radius(i) * Math.cos(angle), radius(i) * Math.sin(angle)];
}));
const plus = "M-1,-.35H-.35V-1H.35V-.35H1V.35H.35V1H-.35V.35H-1Z";
// The markers of matplotlib that the looks of the analysis name, as paths within a square of side 2.
const MARKERS = {
  "": "M0,0", o: "M1,0A1,1,0,1,1,-1,0A1,1,0,1,1,1,0Z", s: "M-.85,-.85H.85V.85H-.85Z", D: round(4), d: polygon([[0, -1], [0.6, 0], [0, 1], [-0.6, 0]]),
  "^": round(3), v: round(3, undefined, Math.PI), "<": round(3, undefined, -Math.PI / 2), ">": round(3, undefined, Math.PI / 2),
  p: round(5), h: round(6), "*": round(10, (i) => (i % 2 ? 0.42 : 1.1)), P: plus,
  X: polygon([[-1, -0.5], [-0.5, -1], [0, -0.5], [0.5, -1], [1, -0.5], [0.5, 0], [1, 0.5], [0.5, 1], [0, 0.5], [-0.5, 1], [-1, 0.5], [-0.5, 0]]),
};
const DASHES = { "-": [], "--": [6, 3], "-.": [6, 2, 1.5, 2], ":": [1.5, 2.5] };

function sample(look, width = 1.6) {
  const dash = DASHES[look.line].join(" ");
  return `<svg class="look" viewBox="-22 -8 44 16" aria-hidden="true"><path d="M-22,0H22" stroke="${look.colour}" stroke-width="${width}" ` +
    `stroke-dasharray="${dash}"/><path d="${MARKERS[look.marker] ?? MARKERS.o}" transform="scale(4.5)" stroke="${look.colour}" ` +
    `stroke-width=".3" fill="${look.filled ? look.colour : "#fff"}"/></svg>`;
}

// The scale and axis of values: from none of them cut off to the next plain number that is needed.
function logarithmic(rows) {
  const of = rows.length ? rows.flatMap((row) => [row.y, row.low ?? row.y, row.high ?? row.y]) : [1, 10];
  const domain = [Math.min(...of) / 1.12, Math.max(...of) * 1.12];
  const decades = Math.log10(domain[1] / domain[0]);
  const steps = decades > 3 ? [1] : decades > 1.3 ? [1, 2, 5] : [1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9];
  const values = [];
  for (let k = Math.floor(Math.log10(domain[0])); k <= Math.log10(domain[1]); ++k) values.push(...steps.map((step) => Number((step * 10 ** k).toPrecision(2))));
  return { scale: { type: "log", domain, nice: false }, axis: { values: values.filter((v) => v >= domain[0] && v <= domain[1]), format: "~g" } };
}

const linear = (rows) => ({ scale: { domain: [0, 1.05 * Math.max(...rows.map((row) => Math.max(row.y, row.high ?? 0)))], nice: false }, axis: { format: "~g", tickCount: 8 } });

// Lines, intervals and points of several series. A row: series, x, y, low, high (null where not known), join: whether a
// line goes through it, tip: what is said of it. `bounds` names the series that are drawn as bounds: wide, without points.
function lines(rows, looks, bounds, x, y) {
  const names = Object.keys(looks);
  const scale = (range) => ({ scale: { domain: names, range: names.map((name) => range(looks[name])) }, legend: null });
  const colour = { field: "series", type: "nominal", ...scale((look) => look.colour) };
  const at = { x: { field: "x", type: "quantitative", ...x }, y: { field: "y", type: "quantitative", ...y } };
  const stroked = (width, of) => ({
    data: { values: rows.filter((row) => row.join && bounds.includes(row.series) === of) }, mark: { type: "line", strokeWidth: width, clip: true, aria: false },
    encoding: { ...at, color: colour, strokeDash: { field: "series", type: "nominal", ...scale((look) => DASHES[look.line]) } },
  });
  const points = rows.filter((row) => row.tip);
  const known = rows.filter((row) => row.low !== null && (row.join || looks[row.series].marker));
  return {
    layer: [
      stroked(2.6, true), stroked(1.5, false),
      ...(known.length ? [{ data: { values: known }, mark: { type: "rule", strokeWidth: 1.4, clip: true, aria: false },
        encoding: { x: at.x, y: { ...at.y, field: "low" }, y2: { field: "high" }, color: colour } }] : []),
      // Of the nearest point the row is datum.datum; Vega-Lite 6.4 does not see to that itself (vega-lite pull request 9707).
      { data: { values: points }, mark: { type: "point", opacity: 1, strokeWidth: 1.3, aria: false, tooltip: { expr: "datum.tip || datum.datum.tip" } },
        params: [{ name: "near", select: { type: "point", on: "pointerover", nearest: true, clear: "pointerout" } }],
        encoding: { ...at, stroke: colour, fill: { field: "series", type: "nominal", ...scale((look) => (look.filled ? look.colour : "#ffffff")) },
          shape: { field: "series", type: "nominal", ...scale((look) => MARKERS[look.marker] ?? MARKERS.o) },
          size: { condition: { param: "near", empty: false, value: 190 }, value: 48 } } },
    ],
  };
}

// ---------------------------------------------------------------------------------------------------------- controls

// A control: name, label, and options [value, text]; or `checks`, a legend with boxes; or `inputs` and `buttons`.
function controlHtml(control, state) {
  const id = `control-${control.name}`;
  if (control.checks) {
    const boxes = control.checks.map(([value, look]) =>
      `<label><input type="checkbox" id="${id}-${escaped(value)}" data-name="${control.name}" value="${escaped(value)}"` +
      `${state.seen[control.name].includes(value) ? " checked" : ""}>${sample(look)}<span>${escaped(look.title)}</span></label>`);
    return `<fieldset><legend>${escaped(control.label)}</legend>${boxes.join("")}<span class="all">` +
      `<button type="button" id="${id}-all" data-name="${control.name}" data-set="all">all</button>` +
      `<button type="button" id="${id}-none" data-name="${control.name}" data-set="none">none</button>` +
      `<button type="button" id="${id}-default" data-name="${control.name}" data-set="default">as at first</button></span></fieldset>`;
  }
  if (control.button) return `<button type="button" id="${id}" data-act="${control.name}">${escaped(control.label)}</button>`;
  if (control.number) {
    return `<label for="${id}">${escaped(control.label)}<input type="number" id="${id}" data-name="${control.name}" min="0" step="any" ` +
      `value="${state[control.name]}"></label>`;
  }
  const options = control.options.map(([value, text]) =>
    `<option value="${escaped(value)}"${String(value) === String(state[control.name]) ? " selected" : ""}>${escaped(text)}</option>`);
  return `<label for="${id}">${escaped(control.label)}<select id="${id}" data-name="${control.name}">${options.join("")}</select></label>`;
}

const choose = (name, label, values, text = (value) => value) => ({ name, label, options: values.map((value) => [value, text(value)]) });

// Gives a control a value that it offers, and returns it: the wanted one if it can be had, else the control's own first choice.
function settle(state, control) {
  if (control.checks) {
    // What was asked for is kept, since another type or device may offer more of it; what is seen is what is offered.
    const wanted = state[control.name] ?? control.first;
    state.seen = { ...state.seen, [control.name]: control.checks.map(([value]) => value).filter((value) => wanted.includes(value)) };
  } else if (control.options) {
    const offered = control.options.map(([value]) => value);
    state[control.name] = offered.find((value) => String(value) === String(state[control.name])) ?? control.first ?? offered[0];
  } else if (control.number) {
    const wanted = parseFloat(state[control.name]);
    state[control.name] = Number.isFinite(wanted) ? wanted : control.first;
  }
  return state[control.name];
}

// Adds a choice of a device and one of its views, by their titles, and keeps the view that is seen.
function chooseView(state, add, views, name, label, titleOf, devices = "device") {
  const device = add(choose("device", devices, distinct(views.map((view) => view.device))));
  const own = views.filter((view) => view.device === device);
  const title = add(choose(name, label, own.map(titleOf)));
  return (state.view = own.find((view) => titleOf(view) === title));
}

// What one sees first.
const fastest = (rows, less) => rows.reduce((a, b) => (!a || (less ? b.y < a.y : b.y > a.y) ? b : a), null);

// ------------------------------------------------------------------------------------------------------------ tables

function tableHtml(columns, rows) {
  const head = columns.map((name) => `<th scope="col">${escaped(name)}</th>`).join("");
  const body = rows.map((row) => `<tr>${row.map((cell, i) => `<td data-of="${escaped(columns[i])}">${escaped(cell ?? "")}</td>`).join("")}</tr>`);
  return `<table><thead><tr>${head}</tr></thead><tbody>${body.join("")}</tbody></table>`;
}
