// Puts the pictures of a page together, with title, captions and address; see slides.py.
(() => {
  const GAP = 24, SIZE = 16, LINE = 22, SCALE = 2, NS = 'http://www.w3.org/2000/svg';

  const wrapped = (text, width) => {
    const lines = [''], most = Math.max(20, Math.floor(width / (SIZE * 0.47)));
    for (const word of text.split(/\s+/)) {
      const last = lines.length - 1;
      if (lines[last] && lines[last].length + word.length >= most) { lines.push(word); }
      else { lines[last] += (lines[last] ? ' ' : '') + word; }
    }
    return lines;
  };

  const texts = (svg, lines, x, y, colour, bold) => lines.forEach((line, k) => {
    const text = document.createElementNS(NS, 'text');
    text.setAttribute('x', x);
    text.setAttribute('y', y + (k + 0.8) * LINE);
    text.setAttribute('font-size', SIZE);
    text.setAttribute('font-family', '"Source Sans", sans-serif');
    text.setAttribute('fill', colour);
    if (bold) { text.setAttribute('font-weight', '700'); }
    text.textContent = line;
    svg.appendChild(text);
  });

  const charts = () => [...document.querySelectorAll(
    '[data-testid="stMain"] [data-testid="stPlotlyChart"] .js-plotly-plot')]
    .filter(one => one.offsetParent !== null && !one.closest('details:not([open])'))
    .sort((one, other) => {
      const [a, b] = [one, other].map(chart => chart.getBoundingClientRect());
      return Math.abs(a.top - b.top) < 40 ? a.left - b.left : a.top - b.top;
    });

  const captionOf = chart => {
    const held = chart.closest('[data-testid="stElementContainer"]');
    const next = held && held.nextElementSibling;
    return next ? next.innerText.trim() : '';
  };

  const put = (svg, chart, x, y) => {
    for (const layer of chart.querySelectorAll('svg.main-svg')) {
      const copy = layer.cloneNode(true);
      copy.querySelectorAll('.modebar, .updatemenu-container').forEach(one => one.remove());
      copy.setAttribute('x', x);
      copy.setAttribute('y', y);
      copy.style.background = 'none';
      svg.appendChild(copy);
    }
  };

  const compose = title => {
    const style = getComputedStyle(document.querySelector('[data-testid="stApp"]'));
    const rows = [];
    for (const chart of charts()) {
      const box = chart.getBoundingClientRect();
      const row = rows[rows.length - 1];
      if (row && Math.abs(row[0].box.top - box.top) < 40) { row.push({chart, box}); }
      else { rows.push([{chart, box}]); }
    }
    const width = Math.max(...rows.map(
      row => row.reduce((sum, one) => sum + one.box.width + GAP, GAP)));
    const svg = document.createElementNS(NS, 'svg');
    svg.setAttribute('xmlns', NS);
    const ground = document.createElementNS(NS, 'rect');
    ground.setAttribute('width', '100%');
    ground.setAttribute('height', '100%');
    ground.setAttribute('fill', style.backgroundColor);
    svg.appendChild(ground);
    let y = GAP;
    const head = wrapped(title, width - 2 * GAP);
    texts(svg, head, GAP, y, style.color, true);
    y += head.length * LINE + GAP / 2;
    for (const row of rows) {
      let x = GAP, low = 0;
      for (const {chart, box} of row) {
        put(svg, chart, x, y);
        const lines = wrapped(captionOf(chart), box.width);
        texts(svg, lines, x, y + box.height, style.color, false);
        low = Math.max(low, box.height + lines.length * LINE);
        x += box.width + GAP;
      }
      y += low + GAP / 2;
    }
    // This computer's own name leads nobody else anywhere, so that its pages are named alone.
    const local = ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname);
    const place = new URL(location.href);
    for (const own of ['guess', 'done']) { place.searchParams.delete(own); }  // of one person
    const shown = local ? place.pathname + place.search : place.href;
    const address = wrapped(shown.replace(/(.{90})/g, '$1 '), width - 2 * GAP);
    texts(svg, address, GAP, y, style.color, false);
    const height = y + address.length * LINE + GAP;
    svg.setAttribute('width', width);
    svg.setAttribute('height', height);
    svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
    return {text: new XMLSerializer().serializeToString(svg), width, height};
  };

  const save = (href, name) => {
    const link = document.createElement('a');
    link.href = href;
    link.download = name;
    link.click();
  };

  const make = (kind, title, name) => {
    const {text, width, height} = compose(title);
    const data = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(text);
    if (kind === 'svg') { save(data, `${name}.svg`); return; }
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement('canvas');
      canvas.width = SCALE * width;
      canvas.height = SCALE * height;
      canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
      save(canvas.toDataURL('image/png'), `${name}.png`);
    };
    image.src = data;
  };

  for (const held of document.querySelectorAll('.slides')) {
    for (const button of held.querySelectorAll('button')) {
      button.onclick = () => make(
        button.dataset.kind, held.dataset.title, `fractile_${held.dataset.name}`);
    }
  }
})();
