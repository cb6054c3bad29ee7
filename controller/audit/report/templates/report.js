"use strict";
(() => {
  const readouts = JSON.parse(document.getElementById("readouts").textContent);
  const number = new Intl.NumberFormat("en");

  const written = (value, unit) => {
    if (unit !== "ns") return number.format(value);
    for (const [name, size] of [["ns", 1], ["µs", 1e3], ["ms", 1e6]]) {
      if (value < size * 1000) return `${Number((value / size).toPrecision(3))} ${name}`;
    }
    return `${Number((value / 1e9).toPrecision(3))} s`;
  };

  const nearest = (places, place) => {
    let best = 0;
    places.forEach((one, index) => {
      if (Math.abs(one - place) < Math.abs(places[best] - place)) best = index;
    });
    return best;
  };

  const piece = (tag, text) => {
    const element = document.createElement(tag);
    element.textContent = text;
    return element;
  };

  for (const figure of document.querySelectorAll("[data-chart]")) {
    const data = readouts[figure.dataset.chart];
    const svg = figure.querySelector(".chart > svg");
    const cursors = figure.querySelectorAll(".cursor");
    const output = figure.querySelector(".readout");
    if (!data || !data.at.length) continue;
    let current = -1;
    const show = (index) => {
      current = Math.max(0, Math.min(data.at.length - 1, index));
      const x = `${data.at[current] * 100}%`;
      for (const cursor of cursors) {
        cursor.setAttribute("x1", x);
        cursor.setAttribute("x2", x);
        cursor.style.visibility = "visible";
      }
      output.replaceChildren(piece("b", `${(data.at[current] * data.span).toFixed(2)} s`));
      for (const series of data.series) {
        output.append(` · ${series.name} `, piece("b", written(series.values[current], series.unit)));
      }
    };
    const hide = () => {
      for (const cursor of cursors) cursor.style.visibility = "hidden";
      output.replaceChildren();
    };
    figure.tabIndex = 0;
    figure.setAttribute("aria-label", `${svg.getAttribute("aria-label")}. Arrow keys read values.`);
    figure.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect();
      show(nearest(data.at, (event.clientX - box.left) / box.width));
    });
    figure.addEventListener("pointerleave", hide);
    figure.addEventListener("blur", hide);
    figure.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key];
      if (!step) return;
      event.preventDefault();
      show(current < 0 ? 0 : current + step);
    });
  }

  const overlay = document.querySelector(".overlay");
  const note = document.getElementById("lit-note");
  const darken = () => {
    overlay.classList.remove("lighting");
    for (const element of overlay.querySelectorAll(".lit")) element.classList.remove("lit");
    note.hidden = true;
  };
  const light = (path, story) => {
    darken();
    overlay.classList.add("lighting");
    const edges = new Set(path.edges.flatMap(([a, b]) => [JSON.stringify([a, b]), JSON.stringify([b, a])]));
    const nodes = new Set([...path.nodes, ...path.edges.flat()]);
    for (const link of overlay.querySelectorAll(".link")) {
      link.classList.toggle("lit", edges.has(JSON.stringify([link.dataset.a, link.dataset.b])));
    }
    for (const broker of overlay.querySelectorAll(".broker")) {
      broker.classList.toggle("lit", nodes.has(broker.dataset.node));
    }
    const back = piece("a", "back to it");
    back.href = "#violations";
    back.addEventListener("click", (event) => {
      event.preventDefault();
      story.scrollIntoView({ block: "center" });
      story.querySelector("summary").focus({ preventScroll: true });
    });
    const clear = piece("button", "Clear");
    clear.type = "button";
    clear.className = "show";
    clear.addEventListener("click", darken);
    note.replaceChildren("Path of: ", piece("b", story.querySelector(".what").textContent), " (", back, ") ", clear);
    note.hidden = false;
    document.getElementById("topology").scrollIntoView({ block: "start" });
  };
  if (overlay) {
    for (const button of document.querySelectorAll("[data-lit]")) {
      button.hidden = false;
      button.addEventListener("click", () => light(JSON.parse(button.dataset.lit), button.closest(".violation")));
    }
  }

  const filter = document.getElementById("filter");
  if (filter) {
    const stories = [...document.querySelectorAll("section > .violations .violation")];
    const texts = stories.map((story) => story.textContent.toLowerCase());
    const shown = document.getElementById("filter-count");
    filter.closest(".filter").hidden = stories.length < 2;
    filter.addEventListener("input", () => {
      const wanted = filter.value.trim().toLowerCase();
      let left = 0;
      stories.forEach((story, index) => {
        story.hidden = !texts[index].includes(wanted);
        left += story.hidden ? 0 : 1;
      });
      shown.textContent = wanted ? `${left} of ${stories.length}` : "";
    });
  }
})();
