export const greet = (n) => `sibling says ${n}`;
