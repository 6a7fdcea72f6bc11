// @ts-check

/**
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 * @param {string} text
 */
export function shape(tag, attributes = {}, text = "") {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  if (text) node.textContent = text;
  return node;
}
