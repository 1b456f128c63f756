// A number as people write it: pi/2, 90 deg, 1/3, 2.5e-3, 50 cm. Parsed, never executed.
"use strict";

class BadNumber extends Error {}

const NumberText = {
  // base units as exponents of (m, kg, s); angles have none
  UNITS: {
    m: [1, 1, 0, 0], mm: [1e-3, 1, 0, 0], cm: [1e-2, 1, 0, 0], km: [1e3, 1, 0, 0],
    kg: [1, 0, 1, 0], g: [1e-3, 0, 1, 0], t: [1e3, 0, 1, 0],
    s: [1, 0, 0, 1], ms: [1e-3, 0, 0, 1], min: [60, 0, 0, 1], h: [3600, 0, 0, 1],
    rad: [1, 0, 0, 0], deg: [Math.PI / 180, 0, 0, 0], "°": [Math.PI / 180, 0, 0, 0], rev: [2 * Math.PI, 0, 0, 0], rpm: [Math.PI / 30, 0, 0, -1], Hz: [1, 0, 0, -1],
    N: [1, 1, 1, -2], kN: [1e3, 1, 1, -2], J: [1, 2, 1, -2], W: [1, 2, 1, -3], Pa: [1, -1, 1, -2], kPa: [1e3, -1, 1, -2], MPa: [1e6, -1, 1, -2], GPa: [1e9, -1, 1, -2],
  },
  CONSTANTS: { pi: Math.PI, "π": Math.PI, tau: 2 * Math.PI, e: Math.E, inf: Infinity, Infinity, NaN },
  FUNCTIONS: ["sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "exp", "log", "abs"],
  POWERS: { "⁻": "-", "⁰": "0", "¹": "1", "²": "2", "³": "3", "⁴": "4" },

  // the number in the unit of its field; a plain number is taken in that unit
  read(text, unit = "") {
    const typed = text.trim();
    if (!typed) throw new BadNumber(`“${typed}” is not a number`);
    const [x, ...d] = NumberText.quantity(typed);
    if (d.every((k) => !k)) return x;
    const wanted = NumberText.unit(unit);
    if (!wanted) return x;
    if (wanted.slice(1).some((k, i) => k !== d[i])) throw new BadNumber(`“${typed}” has another dimension than ${unit || "a plain number"}`);
    return x / wanted[0];
  },

  // a unit as the page prints it, or null where it is not known
  unit(text) {
    const plain = [...text].map((c) => (c in NumberText.POWERS ? NumberText.POWERS[c] : c)).join("").replace(/([A-Za-z])(-?\d)/g, "$1**$2").replace(/\s*·\s*/g, " ");
    try { return plain.trim() ? NumberText.quantity(`1 ${plain}`) : [1, 0, 0, 0]; } catch { return null; }
  },

  quantity(text) {
    const tokens = text.replace(/−/g, "-").replace(/(\d),(\d)/g, "$1.$2").match(/\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|[A-Za-zπ°]+|\*\*|[-+*/^()]|\S/g) ?? [];
    const parser = { tokens, at: 0, text };
    const found = NumberText.sum(parser);
    if (parser.at < tokens.length) throw NumberText.bad(parser);
    return found;
  },

  bad(p) { return new BadNumber(`“${p.text}” is not a number`); },

  sum(p) {
    let a = NumberText.product(p);
    while (p.tokens[p.at] === "+" || p.tokens[p.at] === "-") {
      const sign = p.tokens[p.at++] === "+" ? 1 : -1, b = NumberText.product(p);
      if (a.slice(1).some((k, i) => k !== b[i + 1])) throw new BadNumber(`“${p.text}” adds different dimensions`);
      a = [a[0] + sign * b[0], ...a.slice(1)];
    }
    return a;
  },

  product(p) {
    let a = NumberText.signed(p);
    for (;;) {
      const next = p.tokens[p.at], divided = next === "/";
      // a unit follows its number without a sign
      if (next === "*" || divided) p.at++; else if (next === undefined || !/^[A-Za-zπ°(]/.test(next)) return a;
      const b = NumberText.signed(p), k = divided ? -1 : 1;
      a = [divided ? a[0] / b[0] : a[0] * b[0], ...a.slice(1).map((x, i) => x + k * b[i + 1])];
    }
  },

  signed(p) {
    const next = p.tokens[p.at];
    if (next !== "-" && next !== "+") return NumberText.power(p);
    p.at++;
    const [x, ...d] = NumberText.signed(p);
    return [next === "-" ? -x : x, ...d];
  },

  power(p) {
    const a = NumberText.atom(p);
    if (p.tokens[p.at] !== "**" && p.tokens[p.at] !== "^") return a;
    p.at++;
    const [k, ...d] = NumberText.signed(p);
    if (d.some(Boolean)) throw NumberText.bad(p);
    return [a[0] ** k, ...a.slice(1).map((x) => x * k)];
  },

  atom(p) {
    const token = p.tokens[p.at++];
    if (token === undefined) throw NumberText.bad(p);
    if (/^[\d.]/.test(token)) return [Number(token), 0, 0, 0];
    if (token === "(") {
      const inside = NumberText.sum(p);
      if (p.tokens[p.at++] !== ")") throw NumberText.bad(p);
      return inside;
    }
    if (Object.hasOwn(NumberText.CONSTANTS, token)) return [NumberText.CONSTANTS[token], 0, 0, 0];
    if (Object.hasOwn(NumberText.UNITS, token)) return NumberText.UNITS[token];
    if (NumberText.FUNCTIONS.includes(token) && p.tokens[p.at] === "(") {
      const [x, ...d] = NumberText.atom(p);
      if (d.some(Boolean)) throw NumberText.bad(p);
      return [Math[token](x), 0, 0, 0];
    }
    throw NumberText.bad(p);
  },
};
