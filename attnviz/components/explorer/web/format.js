// @ts-check

/** @param {string} text */
const trueMinus = (text) => text.replace("-", "−");

/**
 * A number for people: three significant digits.
 *
 * @param {number} value
 */
export function number(value) {
  if (Number.isNaN(value)) return "undefined";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 1e-4 || size >= 1e6) return trueMinus(value.toExponential(2));
  if (size >= 1000) return trueMinus(value.toFixed(0));
  return trueMinus(value.toPrecision(3));
}

/**
 * How many decimals, up to three, all numbers of a matrix can have in cells of this many
 * characters.
 *
 * @param {number[]} values
 * @param {number} room
 */
export function decimals(values, room) {
  const finite = values.filter(Number.isFinite);
  const fits = (/** @type {number} */ digits) =>
    finite.every((value) => value.toFixed(digits).length <= room);
  return [3, 2, 1].find(fits) ?? 0;
}

/**
 * A number inside a cell. What rounds to zero without being zero says so.
 *
 * @param {number} value
 * @param {number} digits
 */
export function fixed(value, digits) {
  if (!Number.isFinite(value)) return number(value);
  if (value === 0) return "0";
  const text = value.toFixed(digits);
  return Number(text) === 0 ? "≈0" : trueMinus(text);
}

/**
 * The shortest decimal text that reads back as the same float32.
 *
 * @param {number} value
 */
export function exact(value) {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  for (let digits = 6; digits < 9; digits += 1) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return String(short);
  }
  return String(Number(value.toPrecision(9)));
}

/**
 * The end of a colour scale: three significant digits at most, and no more than needed.
 *
 * @param {number} value
 */
export function scaleEnd(value) {
  const size = Math.abs(value);
  if (size >= 1e-4 && size < 1e6) return trueMinus(String(Number(value.toPrecision(3))));
  return size === 0 ? "0" : number(value);
}
