// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Shows the Workloads of the namespace by city.
import { age, el, scroller } from './dom.js';

// level returns how a state looks: good, bad, or busy while nobody needs to act.
export function level(ready, desired, finding) {
  if (finding && !finding.warning) return finding.actor === 'nobody' || !finding.actor ? 'busy' : 'bad';
  return ready >= desired ? 'good' : 'busy';
}

const signs = { good: '✓', bad: '✕', busy: '…' };

// sign returns the sign of a level. The text beside it says the same.
export function sign(of) {
  return el('span', { class: `sign ${of}`, 'aria-hidden': 'true' }, signs[of]);
}

export function workloads(state, selected) {
  const list = state.workloads ?? [];
  if (!state.loaded) return [];
  if (list.length === 0) {
    return [el('h2', null, 'Workloads'), el('p', { class: 'empty' }, 'No Workloads in this namespace. ',
      el('code', null, 'kubectl compute run NAME --image=IMAGE --city=CITY'), ' creates one.')];
  }
  const cities = [...new Set(list.flatMap((one) => one.cities ?? []))].sort();
  return [
    el('h2', null, 'Workloads'),
    scroller('Workloads by city', el('table', { class: 'workloads' },
      el('thead', null, el('tr', null, ['Workload', 'Ready', ...cities, 'Rollout', 'Reason', 'Age'].map((name) => el('th', { scope: 'col' }, name)))),
      el('tbody', null, list.map((one) => row(one, cities, one.name === selected))),
    )),
    state.omitted ? el('p', { class: 'empty' }, `and ${state.omitted} more: `, el('code', null, 'kubectl compute list'), ' has all.') : null,
  ];
}

function row(one, cities, isSelected) {
  const of = level(one.ready, one.desired, one.finding);
  return el('tr', { 'data-key': one.name, class: isSelected ? 'selected' : null },
    el('th', { scope: 'row' }, el('a', { href: `#${encodeURIComponent(one.name)}`, 'aria-current': isSelected ? 'true' : null }, one.name)),
    el('td', { class: 'number' }, sign(of), ` ${one.ready}/${one.desired}`),
    cities.map((city) => cell(one, city)),
    el('td', null, one.rollout),
    el('td', null, one.reason),
    el('td', { class: 'number' }, age(one.created)));
}

// cell shows what a Workload has in a city: the sum of its deployments there.
function cell(one, city) {
  const here = (one.deployments ?? []).filter((deployment) => deployment.city === city);
  if (here.length === 0) return el('td', { class: 'number none' }, '–');
  const ready = here.reduce((sum, deployment) => sum + deployment.ready, 0);
  const desired = here.reduce((sum, deployment) => sum + deployment.desired, 0);
  const reasons = here.map((deployment) => deployment.reason).filter(Boolean).join(', ');
  const of = ready >= desired ? 'good' : one.finding?.actor === 'consumer' || one.finding?.actor === 'operator' ? 'bad' : 'busy';
  return el('td', { class: `number ${of}`, title: reasons || null }, `${ready}/${desired}`);
}
