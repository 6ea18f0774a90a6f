// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Builds elements, and changes a page to what it should be. Text becomes text nodes alone, never markup.

// Control characters, and the ones that change the direction of text: parts of a text come from cells and consumers.
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

// Colours and other sequences of terminals, which logs have.
const sequences = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?)/g;

// text returns a text without what is not to be shown.
export const text = (value) => String(value).replace(sequences, '').replace(controls, '');

// el returns an element. Children are nodes and texts; null, undefined and false are left out.
export function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value !== undefined && value !== null && value !== false) {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === '') continue;
    element.append(child instanceof Node ? child : document.createTextNode(text(child)));
  }
  return element;
}

// show makes the children of an element the wanted ones. What stays the same keeps focus, selection and scroll.
export function show(element, ...wanted) {
  patchChildren(element, el('div', null, ...wanted));
}

function patchChildren(element, wanted) {
  let at = element.firstChild;
  for (const want of [...wanted.childNodes]) {
    const found = fits(at, want) ? at : later(at, want);
    if (found === null) {
      element.insertBefore(want, at);
      continue;
    }
    if (found !== at) element.insertBefore(found, at);
    patch(found, want);
    at = found.nextSibling;
  }
  while (at !== null) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

// later returns the next sibling with the key of a wanted node.
function later(at, want) {
  if (keyOf(want) === undefined) return null;
  while (at !== null && !fits(at, want)) at = at.nextSibling;
  return at;
}

function fits(node, want) {
  return node !== null && node.nodeName === want.nodeName && keyOf(node) === keyOf(want);
}

function keyOf(node) {
  return node.dataset?.key;
}

function patch(node, want) {
  if (node.nodeType === Node.TEXT_NODE) {
    if (node.data !== want.data) node.data = want.data;
    return;
  }
  for (const { name, value } of [...want.attributes]) {
    // The user opens and closes details.
    if (name !== 'open' && node.getAttribute(name) !== value) node.setAttribute(name, value);
  }
  for (const { name } of [...node.attributes]) {
    if (name !== 'open' && !want.hasAttribute(name)) node.removeAttribute(name);
  }
  patchChildren(node, want);
}

// age returns how long ago a time is, as kubectl shows it.
export function age(time) {
  const seconds = Math.max(0, Math.floor((Date.now() - new Date(time).getTime()) / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86400)}d`;
}

// moment returns an element with the age of a time; a pointer shows the time itself.
export function moment(time, words = `${age(time)} ago`) {
  return el('time', { datetime: new Date(time).toISOString(), title: new Date(time).toLocaleString() }, words);
}

// instructions returns a text in which commands, between backticks, can be copied. replace puts names into a command.
export function instructions(words, replace = (command) => command) {
  return words.split('`').map((part, i) => {
    if (i % 2 === 0) return part;
    const command = replace(part);
    return [el('code', null, command), el('button', { type: 'button', 'data-copy': command, 'aria-label': `Copy ${command}` }, 'Copy')];
  });
}

const reference = 'https://github.com/karmada-compute/karmada-compute/blob/main/docs/reference/reasons.md';

// reason returns the reason of a finding, with a link to its page if it is the add-on's.
export function reason({ reason: name, condition, actor }) {
  if (!condition || !actor) return name;
  const section = condition === 'Degraded' ? 'available' : condition.toLowerCase();
  return el('a', { href: `${reference}#${section}`, target: '_blank', rel: 'noreferrer', 'aria-label': `${name} in the reference` }, name);
}

// scroller returns a region that scrolls by keyboard, too, for a table that may be wider than the screen.
export function scroller(label, table) {
  return el('div', { class: 'scroll', role: 'region', 'aria-label': label, tabindex: '0' }, table);
}
