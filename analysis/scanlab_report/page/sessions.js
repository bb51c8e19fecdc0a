// Sessions: the median of each round over all cases, and the repetitions that are farthest out of line.

const SESSION_MEASURES = { rounds: "drift: median of a round over cases with as many rounds", outliers: "outliers: the farthest repetitions" };
const DOT = { line: "-", marker: "o", filled: true };
const OUTLIER_LOOKS = { outliers: { ...DOT, title: "outlier", colour: "#E69F00" } };
const SET_LOOKS = [["#0072B2", "o"], ["#D55E00", "^"], ["#000000", "s"], ["#009E73", "D"]];  // as figures/drift.py has them

const sessions = (views) => ({
  title: "Sessions: drift, outliers and clocks",
  short: "Sessions",

  controls(state, add) {
    chooseView(state, add, views, "session", "session", (view) => view.title);
    add(choose("measure", "show", Object.keys(SESSION_MEASURES), (name) => SESSION_MEASURES[name]));
  },

  show(state) {
    const { view } = state;
    const drift = state.measure === "rounds";
    const sets = distinct(view.rounds.of);
    const setName = (of) => `${of} rounds`;
    const looks = !drift ? OUTLIER_LOOKS : Object.fromEntries(sets.map((of, place) => {
      const [colour, marker] = SET_LOOKS[place % SET_LOOKS.length];
      return [setName(of), { ...DOT, title: setName(of), colour, marker }];
    }));
    const label = drift ? "median change of a round, %" : "time / median of the others of its case";
    const rows = drift
      ? rowsOf(view.rounds).map((of) => ({ series: setName(of.of), x: of.round + 0.2 * (sets.indexOf(of.of) - (sets.length - 1) / 2), y: of.median, low: of.low, high: of.high, tip: { round: of.round, [label]: number(of.median), "95% interval": between(of.low, of.high), "cases with so many rounds": `${of.cases}, ${of.of}` } }))
      : rowsOf(view.outliers).map((of) => ({ x: of.round, y: of.relative, low: null, high: null, tip: { case: of.name, round: of.round, [label]: number(of.relative) }, of }));
    for (const row of rows) Object.assign(row, { series: row.series ?? state.measure, join: false });
    const last = Math.max(...view.rounds.round);
    const most = Math.max(0.1, ...rows.flatMap((row) => [row.y, row.low ?? 0, row.high ?? 0].map(Math.abs)));
    const trends = view.power === "" ? "These repetitions are too few to show a trend. "
      : `In ${view.rising} cases of ${view.cases} times rise with the rounds, in ${view.falling} they fall (Mann's rank test, corrected for the number of cases). ${view.power}. `;
    const clocks = view.clocks === 0 ? "The clock was read only before the first repetition; drift alone could show later throttling."
      : view.throttling || `None of ${view.clocks} readings of the multiprocessors' clock, every 20 ms at most, is below its maximum.`;
    return {
      rows,
      spec: () => lines(rows, looks, [],
        { title: "round", scale: { domain: [0.5, last + 0.5], nice: false }, axis: { values: distinct(view.rounds.round), format: "d" } },
        { title: label, ...(drift ? { scale: { domain: [-1.1 * most, 1.1 * most], nice: false }, axis: { format: "~g" } } : logarithmic([...rows, { y: 1 }])) }),
      description: `${SESSION_MEASURES[state.measure]} of ${view.title}, ${rows.length} of them; the table has the numbers.`,
      source: view.source,
      text: `${capital(view.title)}, ${view.cases} cases, ${view.repetitions} repetitions. ` + (drift ? `Vertical bars are 95% intervals. Each colour is a set of cases with equal numbers of rounds, ` +
        `since a case stops once it has converged (${sets.map((of, place) => `${["blue", "red", "black", "green"][place % SET_LOOKS.length]}: ${of} rounds, ${view.rounds.cases[view.rounds.of.indexOf(of)]} cases`).join("; ")}). ` +
        `Without drift the medians stay at 0. ${view.went_on} ${trends}`
        : `${spaced((100 * view.outside) / view.repetitions, 2)}% of the repetitions lie beyond Tukey's fences; normal times would have ${spaced(view.normal_percent, 2)}%. The chart has ` +
          `${rows.length === view.outside ? "all of them" : `the ${rows.length} farthest`}. Every result includes them. `) + clocks,
      table: drift ? { columns: ["rounds of these cases", "round", label, "95% from", "to", "cases"], rows: rowsOf(view.rounds).map((of) => [of.of, of.round, number(of.median), number(of.low), number(of.high), of.cases]) }
        : { columns: ["case", "round", label], rows: rows.map(({ of }) => [of.name, of.round, number(of.relative)]) },
    };
  },
});
