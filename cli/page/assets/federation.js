// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Shows an operator the replicas, cells, cities and repairs on the hub, and how old they are.
import { age, el, instructions, reason, scroller } from './dom.js';
import { asked, sign } from './workloads.js';

export function federation(hub) {
  if (!hub) return [];
  const read = new Date(hub.read).getFullYear() > 1;
  return [
    el('h2', null, 'Hub'),
    el('p', { class: 'quiet freshness' }, sign(hub.problem ? 'bad' : hub.well ? 'good' : 'busy'),
      read ? ` read ${age(hub.read)} ago` : ' not read yet', hub.problem ? `, and not since: ${hub.problem.message}` : '',
      hub.omitted ? `; ${hub.omitted} rows are left out, `: '', hub.omitted ? el('code', null, 'karmadactl compute status') : null, hub.omitted ? ' has all' : ''),
    hub.problem ? el('p', { class: 'remedy' }, hub.problem.do) : null,
    hub.hidden?.length ? el('p', { class: 'quiet' }, `left out, since you may not read it: ${hub.hidden.join(', ')}`) : null,
    (hub.faults ?? []).map(fault),
    (hub.warnings ?? []).map((warning) => el('p', { class: 'verdict busy' }, warning)),
    read ? tables(hub) : null,
  ];
}

function tables(hub) {
  // Without a replica nothing about agents and Instances is newer than the last one.
  const { city: chosen } = asked();
  const inCity = (name) => !chosen || name === chosen;
  const known = (hub.replicas ?? []).some((replica) => replica.running) ? 'good' : 'busy';
  return [
    table('Cells', ['Cell', 'City', 'Ready', 'Agent', 'Deployments', 'Behind'], (hub.cells ?? []).filter((cell) => inCity(cell.city)).map((cell) => [
      cell.name, cell.city, state(cell.ready), [sign(cell.finding ? 'bad' : known), ` ${cell.agent ?? 'unknown'}`], cell.deployments,
      [cell.behind > 0 ? sign('busy') : null, ` ${cell.behind}`],
    ])),
    table('Cities', ['City', 'Standing', 'Cells ready', 'Deployments', 'Instances ready'], (hub.cities ?? []).filter((city) => inCity(city.name)).map((city) => [
      city.name, city.standing, `${city.readyCells}/${city.cells}`, city.deployments, [sign(city.ready >= city.desired ? known : city.cells > 0 ? 'busy' : 'bad'), ` ${city.ready}/${city.desired}`],
    ])),
    table('Replicas', ['Replica', 'Running', 'Renewed', 'Shards', 'Projects'], (hub.replicas ?? []).map((replica) => [
      replica.name, state(replica.running), `${age(replica.renewed)} ago`, replica.shards, replica.projects,
    ])),
    table('Repairs', ['Repaired', 'Namespace', 'Name', 'Ago'], (hub.repaired ?? []).map((one) => [one.kind, one.namespace, one.name, age(one.at)])),
  ];
}

// fault shows what is wrong with a replica, a cell or a city, and what to do.
function fault(one) {
  return el('section', { class: 'verdict bad', 'data-key': `${one.subject} ${one.reason}` },
    el('h3', null, `${one.subject}: `, reason(one)),
    one.message ? el('p', null, one.message) : null,
    one.do ? el('p', { class: 'remedy' }, instructions(one.do)) : null);
}

const state = (good) => [sign(good ? 'good' : 'bad'), good ? ' yes' : ' no'];

function table(name, heads, rows) {
  if (rows.length === 0) return null;
  return [el('h3', null, name), scroller(name, el('table', { class: name.toLowerCase() },
    el('thead', null, el('tr', null, heads.map((head) => el('th', { scope: 'col' }, head)))),
    el('tbody', null, rows.map((row) => el('tr', { 'data-key': row.slice(0, 3).join(' ') },
      row.map((value, i) => el(i === 0 ? 'th' : 'td', i === 0 ? { scope: 'row' } : { class: 'number' }, typeof value === 'number' ? String(value) : value)))))))];
}
