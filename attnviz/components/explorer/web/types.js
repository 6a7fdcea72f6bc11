// @ts-check
/**
 * The shapes that the modules pass to each other. Nothing here runs.
 *
 * @typedef {{name: string, title: string, labels: string[], details: string[] | null,
 *   special: boolean[] | null, written: number | null}} Axis
 *   written: the first position that the model wrote itself.
 *
 * @typedef {{id: string, title: string, subtitle: string, scale: "weight" | "signed" | "magnitude" | "flag",
 *   limit: number | null, accent: string, valueName: string, rows: Axis, cols: Axis,
 *   values: Float32Array, blocked: Uint8Array | null, digest: string, shared?: number, block: number,
 *   tops: Float32Array | null, source: Source | null, refusal?: string, madeFrom: string[],
 *   growsFrom: number | null}} Panel
 *   values and blocked hold rows x cols numbers, row after row. shared: the largest value of the
 *   maps that this one is compared with, for one scale on all. Of an overview (block > 1) each of
 *   them stands for block x block cells: the largest of them, and whether all are masked; tops is
 *   then each row's largest, and source has the parts that were fetched. refusal: why another map
 *   that was asked for is not shown. madeFrom: ids of the panels that it was computed from.
 *   growsFrom: of a text that a model wrote, how many tokens stood there before.
 *
 * @typedef {[number, number]} Span - a position, and the one after the last
 *
 * @typedef {{rows: Span, cols: Span, block: number, values: Float32Array,
 *   blocked: Uint8Array | null}} Tile - a part of a map, as the map itself is stored
 *
 * @typedef {{tiles: () => Tile[], tile: (rows: Span, cols: Span, block: number) => void,
 *   row: (row: number, n: number) => void, rest: () => void, stamp: () => number,
 *   refusal: (rows: Span, cols: Span, block: number) => string}} Source
 *   tiles: what is here, the latest last; tile and row ask for more; rest: nothing is wanted;
 *   stamp: another number when there is more; refusal: why a part did not come, or "".
 *
 * @typedef {{zoom: number, row: number, col: number}} Window
 *   What of a map is in sight: how many times larger than the whole, and the first drawn row and
 *   column, which may be cut.
 *
 * @typedef {{layers: number[], heads: number, kvHeads: number | null, word: string, signed: boolean, down: number, across: number,
 *   thumbnails: Uint8Array, digest: string, first: [number, number] | null,
 *   metrics: {name: string, values: Float32Array}[], stack: Float32Array | null}} Grid
 *
 * @typedef {{layer: number | null, head: number | null, panel: string | null,
 *   row: number | null, col: number | null, to?: [number, number] | null}} Selection
 *   to: last row and column of a block that begins at row and col; null: one cell.
 *
 * @typedef {{title: string, alt: string, settings: string, fileStem: string,
 *   accents: Record<string, [string, string]>,
 *   palettes: {sequential: [Uint8Array, Uint8Array], diverging: [Uint8Array, Uint8Array],
 *     named: Record<string, [Uint8Array, Uint8Array]>, lines: [string[], string[]]},
 *   panels: Panel[], grid: Grid | null, selection: Selection & {look: Look}, push: number, id: string,
 *   key: string, held?: (layer: number, head: number) => Panel,
 *   known?: (layer: number, head: number) => Panel | null, snippet: string, walk: string[], blocks?: boolean, linked?: boolean,
 *   sealed?: boolean, parts?: {layer: number, head: number, part: import("./wire.js").Part}[],
 *   file?: {number: number, data: Uint8Array, kind: "page" | "map", refusal: string} | null}} Figure
 *   held: the map of any head, where the explorer may ask for those that it lacks, or the last one
 *   shown while it is on its way; known: the same, or null where it is not here. snippet: the
 *   Python that computes it. walk: ids of the panels to be played one after another. blocks: a block of cells may be chosen. linked: the page's address has its selection. sealed: there is no
 *   server; parts: maps that came along. file: what was asked for, at the message's end.
 *
 * @typedef {"absolute" | "row" | "log"} ScaleKind
 *
 * @typedef {"matrix" | "lines" | "text" | "compare"} Show
 *
 * @typedef {"" | "down" | "up"} Order - of heads: in their places, or the largest or smallest first
 *
 * @typedef {{show: Show, scale: ScaleKind | null, least: number, palette: string, metric: string,
 *   order: Order, cut: number | null,
 *   others: string[], row: boolean, table: boolean, lines: "columns" | "rows", reading: "from" | "to",
 *   at: number | null}} Drawn
 *   What Look and Options share. scale: how weights are coloured; null leaves it to the size of
 *   the map. least: weights below are drawn as nothing. cut: heads
 *   with less of the metric are faded, with more where the smallest come first. others: keys of maps beside the open one. at: the step of
 *   the walk that is shown, null for the whole figure.
 *
 * @typedef {Drawn & {hide: ("first" | "special")[], zoom: number[] | null, zoomed: string}} Look
 *   How the figure is drawn, as Python and links know it. zoom: of what is in sight of the panel
 *   zoomed ("": the first) how much larger than the whole, the first row and the first column.
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
 *   sequential: Uint8Array, diverging: Uint8Array, flag: Uint8Array, lines: string[]}} Theme
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
 *   swatch: {x: number, y: number, pitch: number}, note: number, type: number,
 *   row: number, col: number, nRows: number, nCols: number, mostZoom: number, zoom: number}} Plan
 *   Where everything of one panel stands, in CSS pixels; x, y, w, h is the map itself, of which
 *   nRows x nCols cells, from row and col on, are in sight; these may be fractions. note: the room
 *   for the line that says how many cells share a pixel. type: how many times larger than usual all
 *   words are. mostZoom: 1 where nothing is gained.
 */
export {};
