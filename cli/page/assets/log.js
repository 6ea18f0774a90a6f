// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Follows the log of an Instance in a dialog, until the dialog is closed.
import { el, show, text } from './dom.js';
import { asked } from './workloads.js';

// The last lines and characters that stay: a log has no end.
const mostLines = 5000;
const mostCharacters = 2 << 20;
// The beginning of a long line that is shown.
const longest = 16 << 10;

const dialog = document.getElementById('log');
let reading = new AbortController();

dialog.addEventListener('close', () => reading.abort());
dialog.addEventListener('change', (event) => {
  if (event.target.dataset.option) start(dialog.dataset.instance);
});

// openLog opens the dialog with the log of an Instance.
export function openLog(instance) {
  dialog.dataset.instance = instance;
  dialog.firstElementChild.replaceChildren(el('h2', { id: 'log-title' }, `Log of ${instance}`), controls(),
    el('pre', { class: 'log', tabindex: '0', role: 'region', 'aria-label': 'Lines' }),
    el('form', { method: 'dialog' }, el('button', { autofocus: true }, 'Close')));
  if (!dialog.open) dialog.showModal();
  start(instance);
}

function controls() {
  return el('p', null,
    el('label', { hidden: true }, 'Container ', el('select', { 'data-option': 'container' })),
    el('label', null, el('input', { type: 'checkbox', 'data-option': 'previous' }), ' Before the last restart'),
    el('span', { id: 'log-state', role: 'status' }, 'connecting'));
}

// offer lets the user select one of several containers.
function offer(containers, container) {
  const select = option('container');
  if (select.childElementCount > 0) return;
  select.append(...containers.map((name) => el('option', { value: name, selected: name === container }, name)));
  select.parentElement.hidden = containers.length < 2;
}

const option = (name) => dialog.querySelector(`[data-option=${name}]`);

// start reads the log from the beginning, as the controls say.
async function start(instance) {
  reading.abort();
  reading = new AbortController();
  const { signal } = reading;
  const lines = linesIn(dialog.querySelector('pre'), signal);
  const parameters = { namespace: asked().namespace, instance, container: option('container').value, previous: option('previous').checked };
  state('connecting');
  try {
    await read(parameters, signal, (part) => {
      if (part.containers) {
        offer(part.containers, part.container);
        state(parameters.previous ? '' : 'live');
      }
      if (part.line !== undefined) lines.add(part.line);
      if (part.end !== undefined) state(part.end ? `ended: ${part.end}` : 'ended', part.end ? 'bad' : '');
    });
  } catch (problem) {
    if (!signal.aborted) state(`cut off: ${problem.message}. Open the log again.`, 'bad');
  }
}

function state(words, level) {
  const element = document.getElementById('log-state');
  element.className = level ?? '';
  show(element, words);
}

// read calls back with each part of the answer.
async function read(parameters, signal, each) {
  const response = await fetch(`log?${new URLSearchParams(parameters)}`, { signal, cache: 'no-store' });
  if (!response.ok) throw new Error(`the command answers with ${response.status}`);
  const decoder = new TextDecoder();
  let rest = '';
  let ended = false;
  for (const reader = response.body.getReader(); ;) {
    const { done, value } = await reader.read();
    if (signal.aborted) return;
    if (done) break;
    const parts = (rest + decoder.decode(value, { stream: true })).split('\n');
    rest = parts.pop();
    for (const part of parts.map((one) => JSON.parse(one))) {
      ended ||= part.end !== undefined;
      each(part);
    }
  }
  if (!ended) throw new Error('the command has ended');
}

// linesIn empties an element, and adds lines to it until the signal is aborted. It scrolls with them unless the user has scrolled up.
// All lines between two pictures of the browser are added at once: where the lines end is asked of the browser, which lays them out
// for the answer.
function linesIn(element, signal) {
  const sizes = [];
  let characters = 0;
  let waiting = [];
  element.replaceChildren();

  function draw() {
    if (signal.aborted) return;
    const follows = element.scrollTop + element.clientHeight >= element.scrollHeight - 4;
    for (const line of waiting) {
      characters += sizes[sizes.push(line.length) - 1];
      element.append(document.createTextNode(line));
    }
    waiting = [];
    while (sizes.length > mostLines || characters > mostCharacters) {
      characters -= sizes.shift();
      element.firstChild.remove();
    }
    if (follows) element.scrollTop = element.scrollHeight;
  }

  return {
    add(line) {
      if (waiting.length === 0) requestAnimationFrame(draw);
      waiting.push(`${text(line.length > longest ? `${line.slice(0, longest)}…` : line)}\n`);
    },
  };
}
