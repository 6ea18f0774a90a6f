// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Shows one Workload: its causes, its rollout, its Instances by city, and its events.
import { age, el, instructions, moment, reason, scroller } from './dom.js';
import { asked, level, sign } from './workloads.js';

const actors = { consumer: 'Consumer', operator: 'Operator', nobody: 'Nothing to do' };

// workload shows a Workload. of has the expanded groups, and why there are no logs.
export function workload(one, of) {
  const held = one.verdicts ?? [];
  return [
    el('p', { class: 'summary' }, sign(held.length === 0 ? 'good' : held.some((v) => acts(v.stop.finding)) ? 'bad' : 'busy'), ' ', one.summary),
    held.map(verdict),
    el('div', { class: 'columns' }, rollout(one), instances(one, of)),
    events(one.events ?? []),
  ];
}

const acts = (finding) => finding.actor === 'consumer' || finding.actor === 'operator';

function verdict(one) {
  const { stop, names } = one;
  const finding = stop.finding;
  const more = one.more ?? 0;
  const where = names.length > 1 ? `${names.length + more} stopped at their ${stop.kind}` : `${stop.kind} ${stop.name}`;
  return el('section', { class: `verdict ${acts(finding) ? 'bad' : 'busy'}`, 'data-key': `${stop.kind}/${stop.name}/${finding.reason}` },
    el('h3', null, sign(acts(finding) ? 'bad' : 'busy'), ' ', reason(finding)),
    el('p', { class: 'quiet' }, `${where} (${stop.plane})`, finding.since ? `, since ${age(finding.since)}` : ''),
    el('p', null, finding.message),
    remedy(finding),
    names.length > 1 ? el('p', { class: 'quiet' }, `of: ${names.join(', ')}${more ? ` and ${more} more` : ''}`) : null);
}

// remedy shows who acts, and how.
function remedy(finding) {
  if (!finding.do) return null;
  return el('p', { class: 'remedy' }, el('strong', null, `${actors[finding.actor] ?? 'Next'}: `), instructions(finding.do, ready));
}

// ready puts the name of the Workload, and the chosen namespace, into a command about it.
function ready(command) {
  const { workload: name, namespace } = asked();
  if (!/\bNAME\b/.test(command)) return command;
  return command.replace(/\bNAME\b/, name) + (namespace ? ` --namespace=${namespace}` : '');
}

function rollout(one) {
  const plan = one.rollout;
  if (!plan) return one.noRollout ? el('section', { class: 'card' }, el('h3', null, 'Rollout'), el('p', null, one.noRollout)) : null;
  return el('section', { class: 'card rollout' },
    el('h3', null, 'Rollout'),
    el('p', null, el('strong', null, plan.phase), plan.message ? `: ${plan.message}` : ''),
    plan.change ? el('p', { class: 'change' }, `Revision ${plan.change.revision}, `, moment(plan.change.created), `: ${plan.change.cause}`) : null,
    plan.budget ? el('p', { class: 'budget' }, `Budget: ${plan.budget.available} Available, at least ${plan.budget.minAvailable} must stay `,
      el('meter', { min: 0, max: Math.max(plan.budget.available, plan.budget.minAvailable, 1), low: plan.budget.minAvailable,
        value: plan.budget.available, 'aria-label': 'Available Instances' })) : null,
    el('ol', null, plan.cities.map(turn)),
    plan.unknown ? el('details', { class: 'quiet' }, el('summary', null, 'What the plan does not know'),
      plan.unknown.map((text) => el('p', null, text))) : null);
}

function turn(one) {
  return el('li', { 'data-key': one.deployment || one.city },
    el('span', { class: 'city' }, one.city || one.deployment),
    el('progress', { max: Math.max(one.instances, 1), value: one.updatedInstances, 'aria-label': `${one.city}: Instances with the new template` }),
    el('span', { class: 'number' }, `${one.updatedInstances}/${one.instances}`),
    el('span', { class: 'turn' }, el('strong', null, one.reason), one.message ? ` ${one.message}` : '', times(one)));
}

// times shows when a city got the template.
function times({ began, ended }) {
  if (!began && !ended) return null;
  return el('span', { class: 'times quiet' }, began ? ['first Instance started ', moment(began)] : null, began && ended ? ', ' : null,
    ended ? ['all Ready for ', moment(ended, age(ended))] : null);
}

function instances(one, of) {
  const root = one.tree.kind === 'Project' ? one.tree.children[0] : one.tree;
  return el('section', { class: 'card' },
    el('h3', null, 'Cities and Instances'),
    root.children ? el('ul', { class: 'tree' }, root.children.map((child) => node(child, of))) : el('p', null, 'No deployments yet.'),
    of.noLogs ? el('p', { class: 'quiet' }, `No logs here: ${of.noLogs}`) : null);
}

function node(one, of) {
  if (one.kind === 'Instance') return instance(one, of);
  return el('li', { 'data-key': one.name }, el('details', { open: true },
    el('summary', null, sign(level(one.ready ?? 0, one.desired ?? 0, one.finding)),
      el('strong', null, ` ${one.city || `cell ${one.name}`} `), one.city ? el('span', { class: 'quiet' }, `${one.name} `) : null,
      el('span', null, `${one.state} `), el('span', { class: 'quiet' }, [one.finding && one.reason, one.address].filter(Boolean).join(' · '))),
    one.finding ? el('p', { class: 'quiet' }, one.finding.message) : null,
    el('ul', null, (one.children ?? []).map((child) => node(child, of)))));
}

// instance shows an Instance, or a group of them with the ones that the user has asked for.
function instance(one, of) {
  const seen = one.state === 'Ready' ? 'good' : one.finding && acts(one.finding) ? 'bad' : 'busy';
  const line = [
    one.state ? sign(seen) : null, el('span', { class: 'name' }, ` ${one.name} `), el('span', null, `${one.state} `),
    one.state === 'Ready' && !one.finding ? null : el('span', { class: 'reason' }, `${one.reason ?? ''} `),
    el('span', { class: 'quiet' }, [one.address, one.template, one.restarts ? `${one.restarts} restarts` : ''].filter(Boolean).join(' · ')),
  ];
  const message = one.finding?.message ? el('p', { class: 'quiet' }, one.finding.message) : null;
  if (!one.instances) {
    return el('li', { 'data-key': one.name }, line,
      el('button', { type: 'button', 'data-path': one.name, 'aria-label': `Path to Instance ${one.name}` }, 'Path'),
      of.noLogs ? null : el('button', { type: 'button', 'data-log': one.name, 'aria-label': `Log of Instance ${one.name}` }, 'Log'), message);
  }
  const open = of.expanded.get(one.first);
  return el('li', { 'data-key': `group ${one.first}`, class: 'group' }, line,
    one.state ? null : el('span', { class: 'quiet' }, `${one.instances} Instances `),
    el('button', { type: 'button', 'data-group': one.first, 'data-count': one.instances, 'aria-expanded': open ? 'true' : 'false',
      'aria-label': `Each Instance of ${one.name}` }, open ? 'Hide' : 'Show'),
    message,
    open ? el('ul', null, open.nodes.map((child) => instance(child, of))) : null,
    open && open.nodes.length < one.instances
      ? el('button', { type: 'button', 'data-more': one.first }, `Show more of ${one.instances - open.nodes.length}`) : null);
}

function events(list) {
  return el('section', { class: 'card' },
    el('h3', null, 'Events'),
    list.length === 0 ? el('p', { class: 'empty' }, 'No events. API servers keep them for an hour by default.')
      : scroller('Events', el('table', { class: 'events' },
        el('thead', null, el('tr', null, ['Seen', 'Type', 'Reason', 'Object', 'Message'].map((name) => el('th', { scope: 'col' }, name)))),
        el('tbody', null, list.map((one) => el('tr', { class: one.type === 'Warning' ? 'warning' : null },
          el('td', { class: 'number' }, age(one.seen)), el('td', null, one.type), el('td', null, one.reason), el('td', null, one.object),
          el('td', { class: 'message' }, one.message)))))));
}

// path shows each object on the path to an Instance.
export function path(way) {
  return [
    el('h2', { id: 'path-title' }, `Path to ${way.name}`),
    el('ol', { class: 'path' }, way.steps.map((step) => el('li', { class: step === way.stop ? 'bad' : null },
      el('span', { class: 'quiet' }, `${step.plane} `), el('strong', null, `${step.kind} ${step.name} `), el('span', null, step.state),
      step.finding ? el('p', null, reason(step.finding), `: ${step.finding.message ?? ''}`) : null,
      step.finding ? remedy(step.finding) : null))),
    el('form', { method: 'dialog' }, el('button', { autofocus: true }, 'Close')),
  ];
}
