// The script of a report for a browser: it hides objects that the filter does not match. Without scripts the form is
// hidden and all content is visible.

export const pageScript = `
(() => {
  'use strict';
  const form = document.getElementById('filter');
  if (!form) return;
  const { kind, what, words } = form.elements;
  const found = document.getElementById('found');
  const home = form.closest('section');
  const all = [...document.querySelectorAll('[data-kind]')];
  const groups = [...document.querySelectorAll('.group')];
  const texts = new Map();
  const textOf = (one) => texts.get(one) ?? (texts.set(one, one.textContent.toLowerCase()), texts.get(one));
  const filter = () => {
    const wanted = words.value.trim().toLowerCase();
    const fits = (one) => (!kind.value || one.dataset.kind === kind.value) && (!what.value || !one.dataset.what || one.dataset.what === what.value) && (!wanted || textOf(one).includes(wanted));
    let shown = 0;
    for (const one of all) {
      one.hidden = !fits(one);
      if (!one.hidden && home.contains(one)) shown += Number(one.dataset.count);
    }
    for (const group of groups) group.hidden = !group.querySelector('.item:not([hidden])');
    found.textContent = 'Shown: ' + shown + ' of ' + found.dataset.all;
  };
  let waiting = 0;
  const soon = () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(filter);
  };
  form.addEventListener('input', soon);
  form.addEventListener('reset', soon);
  form.addEventListener('submit', (event) => event.preventDefault());
  form.hidden = false;
  filter();
})();
`;
