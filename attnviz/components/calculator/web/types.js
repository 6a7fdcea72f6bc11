// @ts-check

/**
 * Layers of one kind and shape. Widths that a kind does not have are absent.
 *
 * @typedef {{kind: string, count: number, heads?: number, dk?: number, dv?: number, window?: number,
 *   rank?: number, rope?: number, index?: number, state?: number[], channels?: number,
 *   kernel?: number, mixer?: string}} Group
 *
 * bits and stateBits are eighths of a bit, so that 4.125 bits are a whole number.
 *
 * @typedef {{length: number, batch: number, bits: number, stateBits: number, source: number,
 *   accounting: string, decoded: number, block: number, ranks: number, batched: number,
 *   fp8: boolean, modelType: string | null, nHeads: number | null}} Settings
 *
 * @typedef {{total: bigint, sequence: bigint, fixed: bigint, perToken: number,
 *   held: bigint | null, parts: bigint[]}} Sum - parts: of each group, one layer of the batch
 *
 * @typedef {{layers: number, heads: number, width: number, latent: boolean}} Shape
 *
 * @typedef {{key: string, label: string, values: number[], value: number}} Slider
 *
 * @typedef {{name: string, groups: Group[]}} Design
 *
 * @typedef {{name: string, groups: Group[] | null, shape: Shape | null, order: number[][],
 *   others: Design[], settings: Settings, sliders: Slider[], free: number, farthest: number,
 *   colours: Record<string, [string, string]>, dark: boolean}} Payload
 */

export {};
