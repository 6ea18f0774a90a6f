// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Searches the index of sections. A section fits if it has every word; one with the words in its title comes first.
const most = 20;
const root = document.body.dataset.root;
const input = document.getElementById('search');
const found = document.getElementById('found');
let index;

function rank(entry, words) {
  const title = entry.title.toLowerCase();
  const all = `${title} ${entry.page} ${entry.text}`.toLowerCase();
  if (!words.every((word) => all.includes(word))) return 0;
  return 1 + words.filter((word) => title.includes(word)).length * 2 + (title === words.join(' ') ? 3 : 0);
}

function line(entry) {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = root + entry.link;
  link.textContent = entry.title === entry.page ? entry.title : `${entry.page}: ${entry.title}`;
  const text = document.createElement('p');
  text.textContent = entry.text.slice(0, 160);
  item.append(link, text);
  return item;
}

input.addEventListener('input', async () => {
  index ??= fetch(`${root}search.json`).then((answer) => answer.json());
  const entries = await index;
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const fitting = words.length === 0 ? [] : entries.map((entry) => [rank(entry, words), entry]).filter(([of]) => of > 0);
  fitting.sort(([a], [b]) => b - a);
  found.replaceChildren(...fitting.slice(0, most).map(([, entry]) => line(entry)));
});
