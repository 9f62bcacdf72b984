'use strict';
// The slider over the steps, and the source of the step under the mouse. The page is complete without.
(() => {
  const one = (id) => document.getElementById(id);
  const data = JSON.parse(one('data').textContent);
  const drawings = [...document.querySelectorAll('.drawing')];
  const [slider, all] = [one('slider'), one('all')];

  const copy = one('copy');
  if (copy) {
    copy.hidden = false;
    copy.addEventListener('click', async () => {
      const command = one('command');
      try {
        await navigator.clipboard.writeText(command.textContent);
        copy.textContent = 'copied';
      } catch {
        getSelection().selectAllChildren(command);
        copy.textContent = 'press Ctrl+C';
      }
    });
  }
  if (!slider || drawings.length === 0) return;

  // Each drawing has its rows, and the slider stands at one of them.
  const rowsOf = new Map(drawings.map((drawing) => [drawing, [...drawing.querySelectorAll('.row')]]));
  const drawing = () => drawings[all && all.checked ? 1 : 0];
  const rows = () => rowsOf.get(drawing());
  const itemOf = (element) => Number(element.dataset.item);
  let at = data.start;

  const stateAt = (item) => {
    const memory = [...data.locations];
    const stores = new Map();
    for (const { memory: changes, enters, leaves } of data.items.slice(0, item + 1)) {
      for (const [location, value] of changes ?? []) memory[location] = value;
      for (const [step, thread, text] of enters ?? []) stores.set(step, [thread, text]);
      for (const step of leaves ?? []) stores.delete(step);
    }
    return { memory, stores };
  };

  const showState = () => {
    const { memory, stores } = stateAt(at);
    const changed = new Set((data.items[at].memory ?? []).map(([location]) => location));
    for (const cell of document.querySelectorAll('#memory td')) {
      const location = Number(cell.dataset.location);
      cell.textContent = memory[location];
      cell.classList.toggle('changed', changed.has(location));
    }
    const buffers = one('buffers');
    if (!buffers) return;
    const lines = data.threads.map((name, thread) => {
      const own = [...stores].filter(([, [of]]) => of === thread).map(([step, [, text]]) => `${text} (#${step})`);
      return own.length > 0 ? [name, own.join(', ')] : null;
    });
    buffers.replaceChildren(...lines.filter(Boolean).map(([name, text]) => {
      const line = document.createElement('div');
      const who = document.createElement('b');
      who.textContent = name;
      line.append(who, `: ${text}`);
      return line;
    }));
    if (buffers.childElementCount === 0) buffers.textContent = 'all empty';
  };

  const showSource = (item) => {
    const { name, text, place } = data.items[item];
    one('said').textContent = item === at ? text : `${name}: ${text}`;
    const { label, line, first, lines } = data.places[place] ?? { label: '', lines: [] };
    const file = document.createElement('p');
    file.className = 'file';
    file.textContent = label && lines.length === 0 ? `${label} (the file was not found)` : label;
    const excerpt = document.createElement('div');
    excerpt.className = 'excerpt';
    lines.forEach((code, number) => {
      const row = document.createElement('div');
      row.className = first + number === line ? 'line' : '';
      const digits = document.createElement('span');
      digits.className = 'digits';
      digits.textContent = first + number;
      row.append(digits, code);
      excerpt.append(row);
    });
    one('source').replaceChildren(...(label ? [file] : []), ...(lines.length > 0 ? [excerpt] : []));
  };

  const showEdges = (step) => {
    for (const edge of document.querySelectorAll('.edge[data-item]')) {
      edge.classList.toggle('on', step > 0 && [edge.dataset.from, edge.dataset.to].includes(String(step)));
    }
  };

  const show = (position) => {
    const row = rows()[position];
    at = itemOf(row);
    slider.max = rows().length - 1;
    slider.value = position;
    one('position').textContent = data.items[at].name + (row.dataset.step > 0 ? ` of ${data.steps}` : '');
    for (const element of drawing().querySelectorAll('[data-item]')) {
      element.classList.toggle('later', itemOf(element) > at);
      element.classList.toggle('now', element === row);
    }
    showState();
    showSource(at);
    showEdges(Number(row.dataset.step));
    return row;
  };

  // The last row that is not after the item.
  const positionOf = (item) => Math.max(0, rows().findLastIndex((row) => itemOf(row) <= item));
  const move = (by) => {
    const position = Math.min(Math.max(Number(slider.value) + by, 0), rows().length - 1);
    show(position).scrollIntoView({ block: 'nearest' });
  };

  slider.addEventListener('input', () => move(0));
  one('back').addEventListener('click', () => move(-1));
  one('on').addEventListener('click', () => move(1));
  all?.addEventListener('change', () => show(positionOf(at)));
  for (const row of drawings.flatMap((drawing) => rowsOf.get(drawing))) {
    const look = () => {
      showSource(itemOf(row));
      showEdges(Number(row.dataset.step));
    };
    const leave = () => {
      showSource(at);
      showEdges(Number(rows()[slider.value].dataset.step));
    };
    row.addEventListener('mouseenter', look);
    row.addEventListener('focus', look);
    row.addEventListener('mouseleave', leave);
    row.addEventListener('blur', leave);
    row.addEventListener('click', () => show(rows().indexOf(row)));
    row.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' || event.key === ' ') {
        event.preventDefault();
        show(rows().indexOf(row));
      }
    });
  }
  document.addEventListener('keydown', (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined || event.altKey || event.ctrlKey || event.metaKey || event.target === slider) return;
    event.preventDefault();
    move(by);
  });

  one('panel').hidden = false;
  show(positionOf(at));
})();
