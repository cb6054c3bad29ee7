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
  const replay = JSON.parse(document.getElementById("replay").textContent);
  const controls = document.getElementById("replay-controls");
  const slider = document.getElementById("moment");
  const told = document.getElementById("moment-told");
  const play = document.getElementById("play");
  const whole = document.getElementById("whole");
  const links = overlay ? [...overlay.querySelectorAll(".link")] : [];
  const brokers = overlay ? [...overlay.querySelectorAll(".broker")] : [];
  const pair = (a, b) => JSON.stringify([a, b]);
  // What the slider moves through: the moments of the run, or the steps of one message.
  let message = null;
  let timer = 0;

  const halves = new Map();
  for (const link of links) {
    const [there, back] = link.querySelectorAll(".load");
    halves.set(pair(link.dataset.a, link.dataset.b), { line: there, usual: there.getAttribute("class") });
    halves.set(pair(link.dataset.b, link.dataset.a), { line: back, usual: back.getAttribute("class") });
  }
  const bodies = new Map(brokers.map((broker) => {
    const body = broker.querySelector(".body");
    return [broker.dataset.node, { broker, body, usual: Number(body.getAttribute("r")) }];
  }));
  const most = (rows, place) => Math.max(1, ...rows.map((row) => Math.max(0, ...row[place])));
  const loadMost = replay ? most(replay.links, 2) : 1;
  const queueMost = replay ? most(replay.queues, 1) : 1;

  const level = (messages) => messages ? 1 + Math.min(4, Math.floor(5 * Math.log1p(messages) / Math.log1p(loadMost))) : 0;
  const clearDrawing = () => {
    if (!overlay) return;
    overlay.classList.remove("lighting", "replaying");
    document.body.classList.remove("at-a-moment");
    document.getElementById("load-title").textContent = "messages sent";
    for (const element of overlay.querySelectorAll(".lit, .now, .over, .queueing")) {
      element.classList.remove("lit", "now", "over", "queueing");
    }
    for (const half of halves.values()) half.line.setAttribute("class", half.usual);
    for (const one of bodies.values()) one.body.setAttribute("r", one.usual);
    for (const cursor of document.querySelectorAll(".cursor")) cursor.style.visibility = "hidden";
  };

  const showMoment = (bin) => {
    clearDrawing();
    overlay.classList.add("replaying");
    document.body.classList.add("at-a-moment");
    document.getElementById("load-title").textContent = `messages in a moment, up to ${number.format(loadMost)}, logarithmic`;
    const place = (bin + 0.5) / replay.bins;
    let sent = 0;
    for (const [a, b, counts] of replay.links) {
      sent += counts[bin];
      const half = halves.get(pair(a, b));
      if (half) half.line.setAttribute("class", `load load-${level(counts[bin])}`);
    }
    let deepest = ["", 0];
    for (const [node, depths] of replay.queues) {
      const one = bodies.get(node);
      const depth = depths[bin];
      if (depth > deepest[1]) deepest = [node, depth];
      if (!one || !depth) continue;
      one.broker.classList.add("queueing");
      one.body.setAttribute("r", (one.usual * (1 + 1.4 * Math.sqrt(depth / queueMost))).toFixed(1));
    }
    const half = 0.5 / replay.bins;
    const on = replay.faults.filter((fault) => fault.from <= place + half && fault.to >= place - half);
    const targets = new Set(on.map((fault) => fault.target));
    for (const mark of overlay.querySelectorAll(".mark")) {
      const mine = mark.dataset.targets ? mark.dataset.targets.split(" ") : [`broker:${mark.dataset.node}`];
      mark.classList.toggle("over", !mine.some((target) => targets.has(target)));
    }
    for (const cursor of document.querySelectorAll(".cursor")) {
      cursor.setAttribute("x1", `${place * 100}%`);
      cursor.setAttribute("x2", `${place * 100}%`);
      cursor.style.visibility = "visible";
    }
    const phase = replay.phases.find((one) => one.from <= place && place < one.to);
    const words = [`${(place * replay.span).toFixed(1)} s`, phase ? phase.name : "", `${number.format(sent)} messages sent`];
    if (deepest[1]) words.push(`deepest queue ${number.format(deepest[1])} at ${deepest[0]}`);
    words.push(...on.slice(0, 3).map((fault) => fault.label));
    if (on.length > 3) words.push(`${on.length - 3} more faults`);
    tell(words.filter(Boolean).join(" · "));
  };

  const showStep = (step) => {
    clearDrawing();
    overlay.classList.add("lighting");
    const past = message.path.steps.slice(0, step + 1);
    const edges = new Set(past.filter((one) => one.length === 3).flatMap(([, a, b]) => [pair(a, b), pair(b, a)]));
    const nodes = new Set(past.flat());
    const [, a, b] = message.path.steps[step];
    for (const link of links) {
      link.classList.toggle("lit", edges.has(pair(link.dataset.a, link.dataset.b)));
      link.classList.toggle("now", [pair(a, b), pair(b, a)].includes(pair(link.dataset.a, link.dataset.b)));
    }
    for (const broker of brokers) broker.classList.toggle("lit", nodes.has(broker.dataset.node));
    tell(`step ${step + 1} of ${message.path.steps.length}: ${message.words[step] || ""}`);
  };

  const tell = (text) => {
    told.textContent = text;
    slider.setAttribute("aria-valuetext", text);
  };
  const show = () => {
    whole.disabled = false;
    if (message) showStep(Number(slider.value)); else showMoment(Number(slider.value));
  };
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    play.textContent = "Play";
  };
  const start = () => {
    if (Number(slider.value) >= Number(slider.max)) slider.value = 0;
    play.textContent = "Pause";
    show();
    timer = setInterval(() => {
      slider.value = Number(slider.value) + 1;
      show();
      if (Number(slider.value) >= Number(slider.max)) stop();
    }, message ? 500 : Math.max(60, 15000 / replay.bins));
  };
  const showWhole = () => {
    stop();
    message = null;
    clearDrawing();
    note.hidden = true;
    slider.max = replay ? replay.bins - 1 : 0;
    slider.value = 0;
    slider.setAttribute("aria-label", "Moment of the run");
    controls.hidden = !replay;
    whole.disabled = true;
    tell("the whole run");
  };

  const light = (path, story) => {
    stop();
    const words = [...story.querySelectorAll(".path li:not(.gap)")].map((item) => item.textContent.trim().replace(/\s+/g, " "));
    message = { path, words };
    controls.hidden = false;
    slider.max = path.steps.length - 1;
    slider.value = slider.max;
    slider.setAttribute("aria-label", "Step of the message");
    const back = piece("a", "back to it");
    back.href = "#topology";
    back.addEventListener("click", (event) => {
      event.preventDefault();
      story.scrollIntoView({ block: "center" });
      story.querySelector("summary").focus({ preventScroll: true });
    });
    note.replaceChildren("Path of: ", piece("b", story.querySelector(".what").textContent), " (", back, ")");
    note.hidden = false;
    show();
    document.getElementById("topology").scrollIntoView({ block: "start" });
    slider.focus({ preventScroll: true });
  };
  if (overlay) {
    slider.addEventListener("input", () => { stop(); show(); });
    play.addEventListener("click", () => { if (timer) stop(); else start(); });
    whole.addEventListener("click", () => { showWhole(); slider.focus(); });
    showWhole();
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
    const sort = document.getElementById("sort");
    const key = (story) => sort.value === "what" ? story.querySelector(".what").textContent : story.dataset[sort.value];
    sort.addEventListener("change", () => {
      for (const group of document.querySelectorAll("section > .violations")) {
        const rows = [...group.querySelectorAll(":scope > .violation")];
        if (!rows.length) continue;
        const after = rows[rows.length - 1].nextSibling;
        rows.sort((one, other) => key(one).localeCompare(key(other), "en", { numeric: true }));
        for (const row of rows) group.insertBefore(row, after);
      }
    });
  }
})();
