// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Shows the Workloads of the namespace by city.
import { age, el, scroller } from './dom.js';

// level returns how a state looks: good, bad, or busy while nobody needs to act.
export function level(ready, desired, finding) {
  if (finding && !finding.warning) return finding.actor === 'nobody' || !finding.actor ? 'busy' : 'bad';
  return ready >= desired ? 'good' : 'busy';
}

// asked returns what the address asks for: #web?city=DFW&level=broken.
export function asked(hash = location.hash) {
  const [workload, filter] = hash.slice(1).split('?');
  const { name = '', city = '', level = '', namespace = '' } = Object.fromEntries(new URLSearchParams(filter));
  return { workload: decodeURIComponent(workload), name, city, level, namespace };
}

// address returns the address that asks for what the present one does, but for some changes.
export function address(changes) {
  const { workload, ...filter } = { ...asked(), ...changes };
  const parameters = new URLSearchParams(Object.entries(filter).filter(([, value]) => value)).toString();
  return `#${encodeURIComponent(workload)}${parameters ? `?${parameters}` : ''}`;
}

const signs = { good: '✓', bad: '✕', busy: '…' };

// sign returns the sign of a level. The text beside it says the same.
export function sign(of) {
  return el('span', { class: `sign ${of}`, 'aria-hidden': 'true' }, signs[of]);
}

// looks are how levels look, and the other standings of cities.
const looks = { broken: 'bad', rolling: 'busy', well: 'good' };
const standings = { ...looks, drained: 'busy', silent: 'bad', 'no cell': 'bad' };

// cities shows each city with its standing, and what needs attention there. One that is chosen filters what is below.
export function cities(list) {
  const chosen = asked().city;
  return list.map((one) => {
    const counts = ['broken', 'rolling'].filter((name) => one[name]).map((name) => `${one[name]} ${name}`);
    const look = one.replacedBy && !one.broken && !looks[one.standing] ? 'busy' : standings[one.standing];
    if (one.replacedBy) counts.push(`Instances run in ${one.replacedBy} instead`);
    return el('a', { 'data-key': one.name, class: look, href: address({ city: one.name === chosen ? '' : one.name }),
      'aria-current': one.name === chosen ? 'true' : null }, sign(look), el('strong', null, ` ${one.name} `),
    [...((one.broken || one.rolling) && looks[one.standing] ? [] : [one.standing]), ...counts].join(', '));
  });
}

// fewest is how many Workloads need a filter.
const fewest = 10;

export function workloads(state) {
  if (!state.loaded) return [];
  const list = state.workloads ?? [];
  const sums = Object.keys(looks).map((name) => [name, state.sums?.[name] ?? 0]).filter(([, count]) => count > 0);
  const total = sums.reduce((sum, [, count]) => sum + count, 0);
  const wanted = asked();
  const filtered = wanted.name || wanted.city || wanted.level;
  const columns = [...new Set(list.flatMap((one) => one.cities ?? []))].sort();
  return [
    el('h2', null, 'Workloads'),
    total > 1 ? el('p', { class: 'sums' }, sums.map(([name, count]) => el('span', null, sign(looks[name]), ` ${count} ${name}`))) : null,
    filtered || total > fewest ? filter((state.cities ?? []).map((one) => one.name), wanted) : null,
    list.length === 0 ? empty(total, filtered) : scroller('Workloads by city', el('table', { class: 'workloads' },
      el('thead', null, el('tr', null, ['Workload', 'Ready', 'Reason', 'Rollout', ...columns, 'Age'].map((name) => el('th', { scope: 'col' }, name)))),
      el('tbody', null, list.map((one) => row(one, columns, one.name === wanted.workload))),
    )),
    state.omitted ? el('p', { class: 'empty' }, `and ${state.omitted} more: the filter finds them, and `, el('code', null, 'kubectl compute list'), ' has all.') : null,
  ];
}

// empty says why there is no row.
function empty(total, filtered) {
  if (total > 0 && filtered) {
    return el('p', { class: 'empty' }, `None of ${total} Workloads fits the filter. `, el('a', { href: address({ name: '', city: '', level: '' }) }, 'Show all'));
  }
  return el('p', { class: 'empty' }, 'No Workloads in this namespace. ',
    el('code', null, 'kubectl compute run NAME --image=IMAGE --city=CITY'), ' creates one.');
}

// filter shows the form that selects Workloads.
function filter(names, { name, city, level: only }) {
  const options = (values, chosen) => ['', ...values].map((value) => el('option', { value, selected: value === chosen }, value || 'all'));
  return el('form', { id: 'filter', role: 'search' },
    el('label', null, 'Name ', el('input', { type: 'search', name: 'name', value: name, maxlength: '63', autocomplete: 'off' })),
    el('label', null, 'City ', el('select', { name: 'city' }, options(names, city))),
    el('label', null, 'State ', el('select', { name: 'level' }, options(Object.keys(looks), only))));
}

function row(one, columns, isSelected) {
  return el('tr', { 'data-key': one.name, class: isSelected ? 'selected' : null },
    el('th', { scope: 'row' }, el('a', { href: address({ workload: one.name }), 'aria-current': isSelected ? 'true' : null }, one.name)),
    el('td', { class: 'number' }, sign(looks[one.level]), ` ${one.ready}/${one.desired}`),
    el('td', null, one.finding ? one.reason : ''),
    el('td', null, one.rollout),
    columns.map((city) => cell(one, city)),
    el('td', { class: 'number' }, age(one.created)));
}

// cell shows what a Workload has in a city: the sum of its deployments there.
function cell(one, city) {
  const here = (one.deployments ?? []).filter((deployment) => deployment.city === city);
  if (here.length === 0) return el('td', { class: 'number none' }, '–');
  const ready = here.reduce((sum, deployment) => sum + deployment.ready, 0);
  const desired = here.reduce((sum, deployment) => sum + deployment.desired, 0);
  const reasons = here.flatMap(({ reason, replacedBy }) => [reason, replacedBy && `${replacedBy} runs its Instances`]).filter(Boolean).join(', ');
  const calm = ({ standing, replacedBy }) => replacedBy || standing === 'rolling' || standing === 'well';
  const of = ready >= desired ? 'good' : here.every(calm) ? 'busy' : 'bad';
  return el('td', { class: `number ${of}`, title: reasons || null }, `${ready}/${desired}`);
}
