import { greet } from "./sibling.js";
export default function ({ data, parentElement }) { parentElement.querySelector(".root").textContent = greet(data.length) + " " + import.meta.url; }
