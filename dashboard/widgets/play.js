// Moves a slider step by step, or presses a button again and again; see play.py.
(() => {
  const PAUSE = 700, SHORTEST = 350, WHOLE = 20000, PRESSES = 20;

  // A slider of many steps goes faster, so that it ends before anybody tires of it.
  const pauseOf = slider => slider
    ? Math.max(SHORTEST, Math.min(PAUSE, WHOLE / (slider.max - slider.min))) : PAUSE;

  const press = (slider, key) => ['keydown', 'keyup'].forEach(kind => slider.dispatchEvent(
    new KeyboardEvent(kind, {key, code: key, bubbles: true, cancelable: true})));

  const sliderOf = label => [...document.querySelectorAll('input[type="range"]')]
    .find(one => one.getAttribute('aria-label') === label);

  const buttonOf = label => [...document.querySelectorAll('[data-testid="stMain"] button')]
    .find(one => one.innerText.includes(label) && !one.disabled);

  const shown = () => document.querySelector('.play button');

  const stop = () => {
    clearInterval(window.__play);
    window.__play = null;
    const button = shown();
    if (button) { button.textContent = button.dataset.label; }
  };

  const step = wanted => {
    if (!shown()) { stop(); return; }
    if (wanted.slider) {
      const slider = sliderOf(wanted.slider);
      if (!slider || slider.value === slider.max) { stop(); return; }
      press(slider, 'ArrowRight');
      return;
    }
    const button = buttonOf(wanted.button);
    wanted.left -= 1;
    if (!button || wanted.left < 0) { stop(); return; }
    button.click();
  };

  const start = button => {
    const wanted = {...button.dataset, left: PRESSES};
    const slider = wanted.slider ? sliderOf(wanted.slider) : null;
    if (slider && slider.value === slider.max) { press(slider, 'Home'); }
    button.textContent = wanted.stop;
    window.__play = setInterval(() => step(wanted), pauseOf(slider));
  };

  const button = shown();
  if (!button) { return; }
  button.textContent = window.__play ? button.dataset.stop : button.dataset.label;
  button.onclick = () => (window.__play ? stop() : start(button));
})();
