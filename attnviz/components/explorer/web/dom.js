// @ts-check

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} className
 * @param {Record<string, string>} attributes
 * @param {(Node | string)[]} children - strings become text
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, className = "", attributes = {}, children = []) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}
