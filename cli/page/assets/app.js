// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Asks for each next state, and shows it.
import { age, el, moment, show } from './dom.js';
import { federation } from './federation.js';
import { openLog } from './log.js';
import { path, workload } from './workload.js';
import { address, asked, cities, workloads } from './workloads.js';

const retry = 2000;
const refresh = 5000;
// typing is how long the filter waits for the next letter.
const typing = 250;
const mostPages = 25;
// stale is the age of an answer after which the page is not live: the command answers each 20 s at least.
const stale = 60_000;

const byId = (id) => document.getElementById(id);
let state = { namespace: '', loaded: false };
let version = '';
let lost = null;
// heard is when the command has last answered.
let heard = Date.now();
let asking = new AbortController();
// expanded has the Instances of the groups that the user has opened, by the name of the first one.
const expanded = new Map();

// outdated returns since when the page is not current; undefined: it is.
function outdated(problem) {
  const late = state.federation?.late;
  return problem?.since ?? (Date.now() - heard > stale ? heard : late && Date.now() > Date.parse(late) ? state.federation.read : undefined);
}

// freshness returns how current the page is, and how that looks.
function freshness(problem) {
  const since = outdated(problem);
  if (since) return [['not updated since ', moment(since, new Date(since).toLocaleTimeString()), ` (${age(since)})`], 'bad'];
  if (!state.loaded) return ['connecting', 'busy'];
  const faults = state.federation?.faults?.length ?? 0;
  return faults ? [`live, ${faults} to act on`, 'bad'] : ['live', 'good'];
}

function render() {
  const problem = lost ?? state.problem;
  const { workload: selected } = asked();
  document.title = [selected, state.namespace, 'karmada-compute'].filter(Boolean).join(' · ');
  show(byId('where'), where());
  if (byId('namespace')) byId('namespace').value = state.namespace;
  show(byId('cities'), cities(standings()));
  const [standing, look] = freshness(problem);
  show(byId('status'), standing);
  byId('status').className = look;
  show(byId('problem'), problem ? [el('p', null, el('strong', null, problem.message)), el('p', null, problem.do)] : [],
    state.hidden?.length ? el('p', { class: 'quiet' }, `left out, since you may not read it: ${state.hidden.join(', ')}`) : null);
  show(byId('federation'), federation(state.federation));
  // An operator's page without a project has no Workloads.
  show(byId('workloads'), state.namespace || !state.federation ? workloads(state) : null);
  byId('main').classList.toggle('detail', selected !== '');
  const detail = state.workload?.name === selected ? state.workload : null;
  show(byId('workload'), selected ? el('article', { 'data-key': selected, 'aria-labelledby': 'title' },
    el('a', { class: 'back', href: address({ workload: '' }) }, '← All Workloads'), el('h2', { id: 'title', tabindex: '-1' }, selected),
    detail ? workload(detail, { expanded, noLogs: state.noLogs }) : el('p', { class: 'quiet' }, 'loading')) : null);
}

// where returns the project and the namespace, which the user may choose where the namespaces are known.
function where() {
  const { namespace, namespaces = [], project } = state;
  const names = [...new Set([...namespaces, namespace])].filter(Boolean).sort();
  return [project ? `project ${project} ` : null,
    namespaces.length === 0 ? namespace && `namespace ${namespace}`
      : el('label', null, 'namespace ', el('select', { id: 'namespace' },
        names.map((name) => el('option', { value: name, selected: name === namespace }, name))))];
}

// standings returns the cities of the hub, with the Workloads of the namespace there, or the ones of the namespace.
function standings() {
  const ofNamespace = state.cities ?? [];
  return state.federation?.cities?.map((city) => ({ ...ofNamespace.find((one) => one.name === city.name), ...city })) ?? ofNamespace;
}

async function get(what, parameters, signal) {
  const response = await fetch(`${what}?${new URLSearchParams({ namespace: asked().namespace, ...parameters })}`, { signal, cache: 'no-store' });
  heard = Date.now();
  if (response.status === 204) return null;
  if (!response.ok) throw new Error(`the command answers with ${response.status}: ${await response.text()}`);
  return response.json();
}

// follow asks for the state after the shown one, without an end.
async function follow() {
  for (;;) {
    asking = new AbortController();
    const { signal } = asking;
    try {
      const answer = await get('state', { ...asked(), after: version }, signal);
      if (signal.aborted) continue;
      lost = null;
      if (answer) {
        // A namespace that is not read yet does not know the others.
        const { namespaces } = state;
        ({ version, state } = answer);
        if (!state.loaded) state.namespaces ??= namespaces;
        await reload();
      }
      render();
    } catch (problem) {
      if (signal.aborted) continue;
      lost ??= { message: 'The command that serves this page has ended, or does not answer.', since: new Date(),
        do: 'Start it again, and open the address that it prints.' };
      lost.detail = String(problem);
      render();
      await new Promise((resolve) => setTimeout(resolve, retry));
    }
  }
}

// load loads the Instances of a group, page by page.
async function load(first, count) {
  let nodes = [];
  for (let pages = 0; nodes.length < count && pages < mostPages; pages++) {
    const { instances } = await get('instances', { workload: asked().workload, first: nodes.at(-1)?.name ?? first });
    const next = (instances ?? []).slice(nodes.length === 0 ? 0 : 1);
    if (next.length === 0) break;
    nodes = nodes.concat(next);
  }
  return nodes.slice(0, count);
}

// reload loads what the user has opened again: it may have changed.
async function reload() {
  for (const [first, open] of expanded) {
    const nodes = await load(first, open.wanted);
    if (nodes.length === 0) expanded.delete(first);
    else if (expanded.has(first)) expanded.set(first, { ...open, nodes });
  }
}

const pageOf = 100;

async function toggle(first, count) {
  if (expanded.has(first)) {
    expanded.delete(first);
  } else {
    const wanted = Math.min(count, pageOf);
    expanded.set(first, { count, wanted, nodes: await load(first, wanted) });
  }
  render();
}

async function more(first) {
  const open = expanded.get(first);
  const wanted = Math.min(open.count, open.wanted + pageOf);
  expanded.set(first, { ...open, wanted, nodes: await load(first, wanted) });
  render();
}

async function openPath(instance) {
  const { way } = await get('way', { workload: asked().workload, instance });
  const dialog = byId('path');
  show(dialog.firstElementChild, way ? path(way) : [el('h2', { id: 'path-title' }, `${instance} does not exist any more`),
    el('form', { method: 'dialog' }, el('button', { autofocus: true }, 'Close'))]);
  if (!dialog.open) dialog.showModal();
}

document.addEventListener('click', (event) => {
  const target = event.target.closest('button, a');
  if (!target) return;
  const { group, count, more: next, path: instance, log, skip, copy: command } = target.dataset;
  // A failed request is shown by the next one of follow.
  const ignore = () => {};
  if (group) toggle(group, Number(count)).catch(ignore);
  if (next) more(next).catch(ignore);
  if (instance) openPath(instance).catch(ignore);
  if (log) openLog(log);
  if (command) copy(target, command);
  if (skip !== undefined) {
    event.preventDefault();
    byId('main').focus();
  }
});

// copy copies a command. A browser that does not let it has the command selected.
async function copy(button, command) {
  let said = 'Copied';
  try {
    await navigator.clipboard.writeText(command);
  } catch {
    getSelection().selectAllChildren(button.previousElementSibling);
    said = 'Selected';
  }
  show(button, said);
  show(byId('said'), `${said}: ${command}`);
}

// ask begins to follow what the address asks for.
function ask() {
  version = '';
  asking.abort();
  render();
}

// What a user has typed stays in the filter until the address asks for something else.
const reset = () => byId('filter')?.reset();

addEventListener('hashchange', ({ oldURL }) => {
  const { workload: before, namespace: former } = asked(new URL(oldURL).hash);
  const { workload: now, namespace } = asked();
  if (former !== namespace) {
    expanded.clear();
    document.querySelectorAll('dialog[open]').forEach((dialog) => dialog.close());
    state = { namespace, namespaces: state.namespaces, federation: state.federation, loaded: false };
  }
  if (before === now) {
    ask();
    reset();
    return;
  }
  expanded.clear();
  ask();
  (now ? byId('title') : document.querySelector(`[data-key="${CSS.escape(before)}"] a`))?.focus();
});

// The filter is in the address, so that a link keeps it.
let typed;
document.addEventListener('input', ({ target }) => {
  if (!target.closest('#filter')) return;
  clearTimeout(typed);
  typed = setTimeout(() => {
    history.replaceState(null, '', address(Object.fromEntries(new FormData(byId('filter')))));
    ask();
  }, typing);
});
document.addEventListener('change', ({ target }) => {
  if (target.id === 'namespace') location.hash = address({ workload: '', name: '', city: '', level: '', namespace: target.value });
});
document.addEventListener('submit', (event) => {
  if (event.target.id === 'filter') event.preventDefault();
});

setInterval(render, refresh); // ages
follow();
