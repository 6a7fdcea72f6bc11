// @ts-check
/**
 * The shapes that the modules pass to each other. Nothing here runs.
 *
 * @typedef {{name: string, title: string, labels: string[], details: string[] | null,
 *   special: boolean[] | null}} Axis
 *
 * @typedef {{id: string, title: string, subtitle: string, scale: "weight" | "signed" | "magnitude",
 *   limit: number | null, accent: string, valueName: string, rows: Axis, cols: Axis,
 *   values: Float32Array, blocked: Uint8Array | null, digest: string, shared?: number}} Panel
 *   values and blocked hold rows x cols numbers, row after row. shared: the largest value of the
 *   maps that this one is compared with, for one scale on all.
 *
 * @typedef {{layers: number[], heads: number, kvHeads: number | null, signed: boolean, size: number,
 *   thumbnails: Uint8Array, digest: string,
 *   metrics: {name: string, values: Float32Array}[], stack: Float32Array | null}} Grid
 *
 * @typedef {{layer: number | null, head: number | null, panel: string | null,
 *   row: number | null, col: number | null}} Selection
 *
 * @typedef {{title: string, alt: string, settings: string, fileStem: string,
 *   accents: Record<string, [string, string]>,
 *   palettes: {sequential: [Uint8Array, Uint8Array], diverging: [Uint8Array, Uint8Array],
 *     named: Record<string, [Uint8Array, Uint8Array]>, lines: [string[], string[]]},
 *   panels: Panel[], grid: Grid | null, selection: Selection & {look: Look}, push: number}} Figure
 *
 * @typedef {"absolute" | "row" | "log"} ScaleKind
 *
 * @typedef {"matrix" | "lines" | "text" | "compare"} Show
 *
 * @typedef {{show: Show, scale: ScaleKind | null, least: number, palette: string, metric: string,
 *   others: string[], row: boolean, reading: "from" | "to"}} Drawn
 *   What Look and Options share. scale: how weights are coloured; null leaves it to the size of
 *   the map. least: weights below are drawn as nothing. others: keys of maps beside the open one.
 *
 * @typedef {Drawn & {hide: ("first" | "special")[]}} Look
 *   How the figure is drawn, as Python and links know it.
 *
 * @typedef {Drawn & {hideFirst: boolean, hideSpecial: boolean}} Options
 *
 * @typedef {{rows: Int32Array, cols: Int32Array, hidden: number}} View
 *   The positions that are drawn, in order, and how many are not.
 *
 * @typedef {{lo: number, hi: number, diverging: boolean, rowTop: Float32Array | null,
 *   decades: number, least: number}} Range
 *   rowTop: each drawn row's own end of the scale, or null where all rows share hi. decades: of a
 *   logarithmic scale, which ends at hi; 0 for a linear one. least: values below are drawn as 0.
 *
 * @typedef {{dark: boolean, page: string, surface: string, text: string, muted: string,
 *   line: string, hatch: string, sans: string, mono: string, accents: Record<string, string>,
 *   sequential: Uint8Array, diverging: Uint8Array, lines: string[]}} Theme
 *
 * @typedef {(text: string, size: number, mono?: boolean) => number} Measure
 *   The width of a text in pixels.
 *
 * @typedef {{at: number, text: string}} Tick
 *   at: the place among the drawn positions.
 *
 * @typedef {{width: number, height: number, x: number, y: number, w: number, h: number,
 *   cellW: number, cellH: number, rowStep: number, colStep: number, rowTicks: Tick[], colTicks: Tick[],
 *   colAngle: number, labelSize: number, numbers: boolean, bar: {y: number, w: number},
 *   swatch: {x: number, y: number, pitch: number}, pooled: {down: number, across: number}}} Plan
 *   Where everything of one panel stands, in CSS pixels; x, y, w, h is the map itself. pooled: how
 *   many cells share a pixel.
 */
export {};
