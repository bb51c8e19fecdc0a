// The page itself: which view is seen, and what happens when a control is used.

const state = {}; // of each view by name; the one that is seen is behind the #
let views = {};
let name = "";
let drawn = null; // the chart that stands on the page
let turn = 0; // counts drawings, so that one that was overtaken is dropped
let width = 0; // of the chart's place when it was last drawn for

const CONFIG = {
  background: "#ffffff", font: 'system-ui, "DejaVu Sans", sans-serif', view: { stroke: null },
  axis: { labelFontSize: 12, titleFontSize: 13, titleFontWeight: "normal", gridColor: "#e4e4e4", labelOverlap: true },
};

function readAddress() {
  const asked = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  name = asked.view in views ? asked.view : Object.keys(views)[0];
  delete asked.view;
  for (const key of Object.keys(asked)) if (["variants", "algorithms", "schedules"].includes(key) || key.startsWith("settings_")) asked[key] = asked[key].split(",");
  state[name] = { ...state[name], ...asked, view: undefined };
}

function writeAddress() {
  const { view, seen, ...said } = state[name];
  const known = Object.entries(said).filter(([, value]) => value !== undefined);
  history.replaceState(null, "", `#${new URLSearchParams([["view", name], ...known])}`);
}

function render() {
  const view = views[name];
  const mine = state[name];
  const controls = [];
  view.controls(mine, (control) => { controls.push(control); return settle(mine, control); });
  const focused = document.activeElement?.id;
  element("views").innerHTML = Object.entries(views).map(([key, { short }]) =>
    `<a href="#view=${key}" id="view-${key}"${key === name ? ' aria-current="page"' : ""}>${short}</a>`).join("");
  element("title").textContent = view.title;
  element("controls").innerHTML = controls.map((control) => controlHtml(control, mine)).join("");
  if (focused) element(focused)?.focus();
  const shown = view.show(mine);
  caption(shown);
  table(shown);
  writeAddress();
  return draw(shown);
}

function caption(shown) {
  const bounds = (shown.legend ?? []).map(([look, text]) => `<p>${sample(look, 2.6)} ${escaped(text)}</p>`).join("");
  const swatches = (shown.swatches ?? []).map(([colour, text]) => `<span class="swatch" style="background:${colour}"></span>${escaped(text)} `).join(" ");
  element("caption").innerHTML = `${bounds}${swatches && `<p>${swatches}</p>`}<p class="source">${escaped(shown.source)}.</p><p>${escaped(shown.text)}</p>`;
}

function table(shown) {
  const { columns, rows } = typeof shown.table === "function" ? shown.table() : shown.table;
  element("shown").hidden = Boolean(shown.plain); // the table stands in the chart's place
  element(shown.plain ? "chart" : "table").innerHTML = tableHtml(columns, rows);
  element("chart").classList.toggle("plain", Boolean(shown.plain));
}

async function draw(shown) {
  const mine = ++turn;
  if (shown.plain) {
    drawn?.finalize();
    drawn = null;
    width = element("chart").clientWidth;
    return;
  }
  width = element("chart").clientWidth;
  const room = width - 40 - (shown.window ? 90 : 0); // the menu to save the chart stands at its right, and lanes have names
  if (room <= 0) return; // not laid out yet: it is drawn once it is
  const layered = !shown.window;
  const spec = {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json", config: CONFIG, description: shown.description,
    ...(layered ? { width: room, height: Math.min(460, Math.max(300, 0.45 * room)), autosize: { type: "fit", contains: "padding" } } : {}),
    ...shown.spec(room),
  };
  const place = document.createElement("div");
  const made = await vegaEmbed(place, spec, { renderer: "svg", actions: { export: true, source: false, compiled: false, editor: false } });
  if (mine !== turn) return made.finalize();
  drawn?.finalize();
  element("chart").replaceChildren(place);
  drawn = made;
  if (shown.window) watchWindow(shown, made.view);
}

// A window that was dragged is taken over by the controls, the address and the table; the chart has it already.
function watchWindow(shown, chart) {
  let waits = 0;
  chart.addSignalListener("window", (_, window) => {
    clearTimeout(waits);
    waits = setTimeout(() => {
      const [from, to] = window.start ?? [0, Infinity];
      const makespan = Math.max(...shown.rows.map((row) => row.end));
      Object.assign(state[name], { from: rounded(Math.max(0, from)), to: rounded(Math.min(to, makespan)) });
      for (const end of ["from", "to"]) element(`control-${end}`).value = state[name][end];
      table(shown);
      writeAddress();
    }, 150);
  });
}

function listen() {
  const form = element("controls");
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", ({ target }) => {
    const mine = state[name];
    if (target.type === "checkbox") {
      const chosen = new Set(mine.seen[target.dataset.name]);
      chosen[target.checked ? "add" : "delete"](target.value);
      mine[target.dataset.name] = [...chosen];
    } else {
      mine[target.dataset.name] = target.value;
    }
    render();
  });
  form.addEventListener("click", ({ target }) => {
    const mine = state[name];
    const { name: checks, set, act } = target.dataset;
    if (act) views[name].act(mine, act);
    if (set) mine[checks] = set === "default" ? undefined : [...form.querySelectorAll(`input[data-name="${checks}"]`)].map((box) => box.value).filter(() => set === "all");
    if (act || set) render();
  });
  addEventListener("hashchange", () => { readAddress(); render(); });
  new ResizeObserver(() => {
    if (element("chart").clientWidth !== width) render();
  }).observe(element("chart"));
}

async function start() {
  const data = await unpack(element("data").textContent);
  const makers = { scans, speedups, several_gpus: severalGpus, schedules, timelines };
  const known = { ...data, speedups: data.scans.filter((view) => view.cases.speedup.some((ratio) => ratio !== null)) };
  views = Object.fromEntries(Object.keys(makers).filter((key) => known[key].length).map((key) => [key, makers[key](known[key])]));
  readAddress();
  await render();
  listen();
  document.documentElement.dataset.readyMs = performance.now().toFixed(0);
}

start().catch((error) => {
  element("trouble").hidden = false;
  element("trouble").textContent = `This page could not be drawn (${error.message}). It needs a browser of 2023 or later; the same figures are in figures/ beside it.`;
  throw error;
});
