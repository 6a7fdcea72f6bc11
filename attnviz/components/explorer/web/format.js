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
 * A number inside a cell: as many decimals, up to three, as the cell has room for.
 *
 * @param {number} value
 * @param {number} room - characters
 */
export function cellNumber(value, room) {
  if (Number.isNaN(value)) return "";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  for (const digits of [3, 2, 1, 0]) {
    const text = value.toFixed(digits);
    if (text.length <= room) return trueMinus(Number(text) === 0 ? text.replace("-", "") : text);
  }
  return "";
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
 * The end of a colour scale: short, and never rounded to a value that is not there.
 *
 * @param {number} value
 */
export function scaleEnd(value) {
  return Number.isInteger(value) && Math.abs(value) < 1e6 ? trueMinus(String(value)) : number(value);
}
