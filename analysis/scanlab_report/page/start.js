// The page itself: which view is seen, and what happens when a control is used.

const state = {}; // the values of each view's controls; those of the view that is seen are behind the #
let views = {};
let name = "";
let drawn = Promise.resolve(); // the chart that stands on the page, or is being drawn

const CONFIG = {
  background: "#ffffff", font: 'system-ui, "DejaVu Sans", sans-serif', view: { stroke: null },
  axis: { labelFontSize: 12, titleFontSize: 13, titleFontWeight: "normal", gridColor: "#e4e4e4", labelOverlap: true },
};

function readAddress() {
  const { view, series, ...asked } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  name = view in views ? view : Object.keys(views)[0];
  state[name] = { ...state[name], ...asked, ...(series === undefined ? {} : { series: series.split(",") }) };
}

function writeAddress() {
  const { view, rows, seen, ...values } = state[name];
  const chosen = Object.entries(values).filter(([, value]) => value !== undefined);
  history.replaceState(null, "", `#${new URLSearchParams([["view", name], ...chosen])}`);
}

function render() {
  const [view, mine, controls] = [views[name], state[name], []];
  view.controls(mine, (control) => { controls.push(control); return settle(mine, control); });
  const focused = document.activeElement?.id;
  element("views").innerHTML = Object.entries(views).map(([key, { short }]) =>
    `<a href="#view=${key}" id="view-${key}"${key === name ? ' aria-current="page"' : ""}>${short}</a>`).join("");
  element("title").textContent = view.title;
  element("controls").innerHTML = controls.map((control) => controlHtml(control, mine)).join("");
  if (focused) element(focused)?.focus();
  const shown = view.show(mine);
  const legend = shown.legend.map(([mark, text]) => `<span class="legend">${mark} ${escaped(text)}</span>`).join("");
  element("caption").innerHTML = `<p>${legend}</p><p class="source">${escaped(shown.source)}.</p><p>${escaped(shown.text)}</p>`;
  element("table").innerHTML = tableHtml(shown.table);
  writeAddress();
  return draw(shown);
}

function draw(shown) {
  const spec = {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json", config: CONFIG, description: shown.description,
    width: "container", height: 420, autosize: { type: "fit-x", contains: "padding" }, ...shown.spec,
  };
  const actions = { export: true, source: false, compiled: false, editor: false };
  drawn = drawn.then((last) => { last?.finalize(); return vegaEmbed("#chart", spec, { renderer: "svg", actions }); });
  return drawn;
}

function listen() {
  const form = element("controls");
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", ({ target: { type, checked, value, dataset } }) => {
    const mine = state[name];
    const others = () => mine.seen.filter((series) => series !== value);
    mine[dataset.name] = type !== "checkbox" ? value : checked ? [...others(), value] : others();
    render();
  });
  form.addEventListener("click", ({ target: { dataset } }) => {
    if (!dataset.set) return;
    const boxes = [...form.querySelectorAll("input")].map((box) => box.value);
    state[name][dataset.name] = dataset.set === "all" ? boxes : [];
    render();
  });
  addEventListener("hashchange", () => { readAddress(); render(); });
}

async function start() {
  const data = await unpack(element("data").textContent);
  const makers = Object.entries({ scans, schedules }).filter(([key]) => data[key].length);
  views = Object.fromEntries(makers.map(([key, make]) => [key, make(data[key])]));
  readAddress();
  await render();
  listen();
  document.documentElement.dataset.readyMs = performance.now().toFixed(0);
}

start().catch((error) => {
  element("trouble").hidden = false;
  element("trouble").textContent = `This page could not be drawn (${error.message}). It needs a browser of 2023 or later; ` +
    "the same figures are in figures/ beside it.";
  throw error;
});
