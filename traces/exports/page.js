"use strict";
(() => {
  const whole = JSON.parse(document.getElementById("data").textContent);
  const by = (id) => document.getElementById(id);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const PAGE = 100, CHUNK = 400;
  let run = null, lens = "time", picked = -1, from = 0, to = 0, logarithmic = false, only = false, first = 0, drag = null;
  let spans = [];

  const make = (tag, text, kind) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  };

  const LENSES = {
    time: { label: "time", legend: ["slow", "slower", "slowest"] },
    chance: { label: "probability", legend: ["less likely", "unlikely", "surprising"] },
    entropy: { label: "entropy", legend: ["unsure", "torn", "guessing"] },
  };
  const degree = (place) => (lens === "time" ? run.pace : lens === "chance" ? run.unlikely : run.unsure)[place];

  // The text

  function look(place) {
    const kinds = ["t"];
    if (run.control[place]) kinds.push("control");
    if (degree(place)) kinds.push(`d${degree(place)}`);
    if (lens === "time" && run.why[place] !== undefined && place) kinds.push("lost");
    if (place === picked) kinds.push("picked");
    return kinds.join(" ");
  }

  function drawText() {
    const box = by("text");
    box.replaceChildren();
    spans = new Array(run.text.length);
    for (let start = 0; start < run.text.length; start += CHUNK) {
      const chunk = make("span");
      for (let place = start; place < Math.min(start + CHUNK, run.text.length); place++) {
        const shown = run.control[place] ? run.sign[place] || "" : run.text[place], aside = run.aside[place];
        if (!shown && !aside) continue;
        const span = make("span", undefined, look(place));
        if (aside) span.append(make("span", aside, "think"));
        span.append(shown);
        span.dataset.place = place;
        spans[place] = span;
        chunk.append(span);
      }
      box.append(chunk);
    }
    if (!box.textContent) box.append(make("span", run.withText ? "There is no text." : "The recording was made without text.", "think"));
  }

  function drawLenses() {
    const group = by("lenses");
    group.replaceChildren();
    for (const [name, about] of Object.entries(LENSES)) {
      const button = make("button", about.label);
      button.type = "button";
      button.dataset.lens = name;
      button.disabled = name !== "time" && !run.likely;
      if (button.disabled) button.title = "not in this recording";
      button.setAttribute("aria-pressed", String(lens === name));
      button.addEventListener("click", () => { lens = name; drawLenses(); retint(); });
      group.append(button);
    }
    const legend = by("legend");
    legend.replaceChildren();
    LENSES[lens].legend.forEach((said, place) => {
      legend.append(make("span", said, `d${place + 1}`), ` ${run.limits[lens][place]} `);
    });
    legend.append(`${run.units[lens]} `);
    if (lens === "time") legend.append(make("span", "disturbed", "lost"));
    if (!run.likely) legend.append(" · probability and entropy: not in this recording");
  }

  const retint = () => spans.forEach((span, place) => { span.className = look(place); });

  function pick(place, scroll = true) {
    if (place < 0 || place >= run.gap.length) return;
    const before = picked;
    picked = place;
    for (const one of [before, place]) if (spans[one]) spans[one].className = look(one);
    if (scroll && spans[place]) {
      const box = by("text"), at = spans[place].getBoundingClientRect(), edge = box.getBoundingClientRect();
      if (at.top < edge.top || at.bottom > edge.bottom) box.scrollTop += at.top - edge.top - box.clientHeight / 2;
    }
    tell(place);
    const row = rows().indexOf(place);
    if (row >= 0) first = Math.floor(row / PAGE) * PAGE;
    drawRows();
    drawGaps();
  }

  function tell(place) {
    const box = by("token");
    box.replaceChildren();
    const head = make("p");
    head.append(`#${place + 1} `, make("code", run.sign[place] || "token"), run.id[place] === null ? "" : ` id ${run.id[place]}`,
      place ? ` · ${run.gapText[place]} ms` : "", ` · at ${run.at[place]} s · decode ${run.decode[place]} ms · sample ${run.sample[place]} ms`);
    box.append(head, make("p", run.why[place] || ""));
    if (run.likely && run.rank[place]) {
      const chances = make("p", `${run.chance[place]}, rank ${run.rank[place]}, ${run.bits[place]} bits`);
      for (const [sign, chance] of run.top[place] || []) chances.append(" · ", make("code", sign), ` ${chance}`);
      box.append(chances);
    }
  }

  // The table

  const rows = () => (only ? run.disturbed : run.every);

  function drawRows() {
    const all = rows(), body = by("rows");
    first = Math.max(0, Math.min(first, Math.floor((all.length - 1) / PAGE) * PAGE));
    body.replaceChildren();
    for (const place of all.slice(first, first + PAGE)) {
      const row = make("tr", undefined, place === picked ? "picked" : "");
      const cells = [place + 1, run.sign[place], run.id[place], run.at[place], run.gapText[place], run.decode[place],
        run.sample[place], run.likely ? run.chance[place] : "–", run.likely ? run.rank[place] || "–" : "–",
        run.likely ? run.bits[place] : "–", place ? run.why[place] : ""];
      cells.forEach((cell, column) => row.append(make("td", cell === null || cell === undefined ? "" : String(cell), column === 1 || column === 10 ? "left" : "")));
      row.dataset.place = place;
      body.append(row);
    }
    by("place").textContent = all.length ? `${first + 1} to ${Math.min(first + PAGE, all.length)} of ${all.length}` : "none";
    by("back").disabled = first === 0;
    by("on").disabled = first + PAGE >= all.length;
  }

  // The plots

  // titled: with a line below the labels for what the x axis is.
  function canvas(id, titled = false) {
    const element = by(id), ratio = window.devicePixelRatio || 1, height = Number(element.getAttribute("data-height") || element.height);
    element.setAttribute("data-height", height);
    const width = element.clientWidth;
    element.width = Math.max(1, Math.round(width * ratio));
    element.height = Math.round(height * ratio);
    element.style.height = `${height}px`;
    const pen = element.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = "12px system-ui, sans-serif";
    const frame = { left: 56, top: 16, right: width - 8, bottom: height - (titled ? 38 : 22) };
    return { pen, frame, width };
  }

  function steps(least, most, count) {
    const raw = (most - least) / count || 1, power = 10 ** Math.floor(Math.log10(raw));
    const step = power * ([1, 2, 5, 10].find((one) => one * power >= raw) || 10);
    const found = [];
    for (let at = Math.ceil(least / step) * step; at <= most + step * 1e-9; at += step) found.push(Number(at.toPrecision(12)));
    return found;
  }

  const label = (value, unit) => `${value.toLocaleString("en")}${unit}`;

  // Moves the left edge of a plot to where the labels beside it have room.
  function makeRoom({ pen, frame }, up, unit) {
    frame.left = Math.max(frame.left, ...up.map((value) => Math.ceil(pen.measureText(label(value, unit)).width) + 8));
  }

  function axes({ pen, frame, width }, scale, across, up, unitAcross, unitUp) {
    pen.strokeStyle = colour("line");
    pen.fillStyle = colour("quiet");
    pen.lineWidth = 1;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    for (const value of up) {
      const y = scale.y(value);
      pen.beginPath(); pen.moveTo(frame.left, y); pen.lineTo(frame.right, y); pen.stroke();
      pen.fillText(label(value, unitUp), frame.left - 6, y);
    }
    pen.textBaseline = "top";
    pen.textAlign = "center";
    for (const value of across) {
      // The last label ends where the picture does.
      const half = pen.measureText(label(value, unitAcross)).width / 2;
      pen.fillText(label(value, unitAcross), Math.min(scale.x(value), width - half), frame.bottom + 5);
    }
  }

  function titles({ pen, frame }, across, up) {
    pen.fillStyle = colour("quiet");
    pen.textBaseline = "top";
    pen.textAlign = "center";
    pen.fillText(across, (frame.left + frame.right) / 2, frame.bottom + 21);
    pen.textAlign = "left";
    pen.fillText(up, 0, 0);
  }

  const MS = 1e6, NEAR = 1.5;
  let gapScale = null;

  function drawGaps() {
    const drawn = canvas("gaps"), { pen, frame } = drawn;
    if (run.gap.length < 2) { pen.fillStyle = colour("quiet"); pen.fillText("fewer than two tokens", frame.left, 40); gapScale = null; return; }
    let most = 0, least = Infinity;
    for (let place = Math.max(from, 1); place < to; place++) {
      const gap = run.gap[place] / MS;
      if (gap > most) most = gap;
      if (gap > 0 && gap < least) least = gap;
    }
    if (!(least < Infinity)) least = most = 1;
    const low = logarithmic ? Math.log10(least * 0.9) : 0, high = logarithmic ? Math.log10(most * 1.1) : most * 1.08;
    const up = logarithmic ? steps(low, high, 4).map((power) => Number((10 ** power).toPrecision(2))) : steps(0, high, 4);
    makeRoom(drawn, up, " ms");
    const height = frame.bottom - frame.top, width = frame.right - frame.left;
    const scale = {
      x: (place) => frame.left + ((place - from) / Math.max(to - 1 - from, 1)) * width,
      y: (ms) => frame.bottom - (((logarithmic ? Math.log10(Math.max(ms, 1e-6)) : ms) - low) / (high - low || 1)) * height,
    };
    gapScale = { frame, width };
    const numbered = { x: (number) => scale.x(number - 1), y: scale.y };
    axes(drawn, numbered, steps(from + 1, to, 8).filter((one) => Number.isInteger(one) && one > 0), up, "", " ms");
    // The least and the largest gap of every column of pixels, so that no peak is hidden.
    pen.strokeStyle = colour("curve");
    pen.lineWidth = 1.2;
    pen.beginPath();
    const bucket = Math.max(1, Math.floor((to - from) / width));
    for (let start = Math.max(from, 1); start < to; start += bucket) {
      let peak = run.gap[start], dip = run.gap[start];
      for (let place = start + 1; place < Math.min(start + bucket, to); place++) {
        if (run.gap[place] > peak) peak = run.gap[place];
        if (run.gap[place] < dip) dip = run.gap[place];
      }
      const x = scale.x(start);
      pen.lineTo(x, scale.y(dip / MS));
      if (bucket > 1) pen.lineTo(x, scale.y(peak / MS));
    }
    pen.stroke();
    if (run.median !== null) {
      pen.strokeStyle = colour("good");
      pen.setLineDash([5, 4]);
      pen.beginPath(); pen.moveTo(frame.left, scale.y(run.median / MS)); pen.lineTo(frame.right, scale.y(run.median / MS)); pen.stroke();
      pen.setLineDash([]);
      pen.fillStyle = colour("good");
      pen.textAlign = "right"; pen.textBaseline = "bottom";
      // Above the plot where the curve leaves it free.
      pen.fillText(`median ${run.medianText}`, frame.right, frame.top);
    }
    pen.fillStyle = colour("extreme");
    pen.textAlign = "center"; pen.textBaseline = "bottom";
    for (const place of run.disturbed) if (place >= from && place < to) pen.fillText("▾", scale.x(place), Math.max(scale.y(run.gap[place] / MS) - 1, 12));
    if (picked >= from && picked < to) {
      pen.strokeStyle = colour("accent");
      pen.beginPath(); pen.moveTo(scale.x(picked), frame.top); pen.lineTo(scale.x(picked), frame.bottom); pen.stroke();
    }
    if (drag) {
      pen.fillStyle = colour("accent");
      pen.globalAlpha = 0.15;
      pen.fillRect(Math.min(drag.began, drag.now), frame.top, Math.abs(drag.now - drag.began), height);
      pen.globalAlpha = 1;
    }
  }

  function drawOften() {
    const drawn = canvas("often", true), { pen, frame } = drawn;
    const gaps = run.gap.slice(1).map((gap) => gap / MS).filter((gap) => gap > 0);
    if (!gaps.length) { pen.fillStyle = colour("quiet"); pen.fillText("fewer than two tokens", frame.left, 40); return; }
    const sorted = Float64Array.from(gaps).sort();
    const least = sorted[0], cut = sorted[Math.floor((sorted.length - 1) * 0.99)], largest = sorted[sorted.length - 1];
    // Only what would squeeze the rest is left outside.
    const most = Math.max(largest <= cut * NEAR ? largest : cut * 1.05, least * 1.05);
    const bins = new Array(48).fill(0);
    let beyond = 0;
    for (const gap of gaps) { if (gap > most) beyond += 1; else bins[Math.min(47, Math.floor(((gap - least) / (most - least || 1)) * 48))] += 1; }
    const highest = Math.max(...bins), up = steps(0, highest, 3);
    makeRoom(drawn, up, "");
    const scale = {
      x: (ms) => frame.left + ((ms - least) / (most - least || 1)) * (frame.right - frame.left),
      y: (count) => frame.bottom - (count / (highest * 1.08)) * (frame.bottom - frame.top),
    };
    axes(drawn, scale, steps(least, most, 5), up, " ms", "");
    titles(drawn, "time of a token (ITL)", "tokens");
    pen.fillStyle = colour("curve");
    const width = (frame.right - frame.left) / 48;
    bins.forEach((count, bin) => pen.fillRect(frame.left + bin * width, scale.y(count), Math.max(width - 1, 1), frame.bottom - scale.y(count)));
    if (beyond) { pen.fillStyle = colour("extreme"); pen.textAlign = "right"; pen.textBaseline = "top"; pen.fillText(`${beyond.toLocaleString("en")} beyond →`, frame.right, frame.top); }
  }

  function drawRead() {
    const drawn = canvas("read", true), { pen, frame } = drawn, points = run.prefill;
    if (points.length < 2) { pen.fillStyle = colour("quiet"); pen.fillText("no progress was recorded", frame.left, 40); return; }
    const most = points[points.length - 1][0] / MS || 1, total = Math.max(...points.map((point) => point[1])) || 1;
    const up = steps(0, total, 4);
    makeRoom(drawn, up, "");
    const scale = {
      x: (ms) => frame.left + (ms / most) * (frame.right - frame.left),
      y: (count) => frame.bottom - (count / (total * 1.08)) * (frame.bottom - frame.top),
    };
    axes(drawn, scale, steps(0, most, 5), up, " ms", "");
    titles(drawn, "since reading began", "prompt tokens");
    pen.strokeStyle = colour("curve");
    pen.lineWidth = 1.6;
    pen.beginPath();
    for (const [at, read] of points) pen.lineTo(scale.x(at / MS), scale.y(read));
    pen.stroke();
  }

  const drawPlots = () => { drawGaps(); drawOften(); drawRead(); };
  const placeAt = (x) => Math.round(from + ((x - gapScale.frame.left) / gapScale.width) * (to - 1 - from));

  // A generation

  function show(place) {
    run = whole[place];
    picked = -1; from = 0; to = run.gap.length; first = 0; drag = null;
    if (!run.likely) lens = "time";
    run.every = run.gap.map((_, one) => one);
    run.disturbed = Object.keys(run.why).map(Number).filter((one) => one > 0);
    document.querySelectorAll(".generation").forEach((element, one) => { element.hidden = one !== place; });
    document.querySelectorAll("#generations button").forEach((button, one) => button.setAttribute("aria-pressed", String(one === place)));
    for (const id of ["reading", "plots", "tokens"]) by(id).hidden = false;
    by("turns").replaceChildren(...run.turns.map(([role, said]) => {
      const turn = make("p", undefined, "turn");
      turn.append(make("b", role), said);
      return turn;
    }));
    by("token").replaceChildren();
    drawLenses(); drawText(); drawRows(); drawPlots();
  }

  if (whole.length > 1) whole.forEach((one, place) => {
    const button = make("button", `generation ${one.number}`);
    button.type = "button";
    button.addEventListener("click", () => show(place));
    by("generations").append(button);
  });

  const clicked = (event) => { const at = event.target.closest("[data-place]"); if (at) pick(Number(at.dataset.place), false); };
  by("text").addEventListener("click", clicked);
  by("rows").addEventListener("click", (event) => { const at = event.target.closest("[data-place]"); if (at) pick(Number(at.dataset.place)); });
  by("text").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 10, ArrowUp: -10 }[event.key];
    const to_ = event.key === "Home" ? 0 : event.key === "End" ? run.gap.length - 1 : picked + (step || 0);
    if (!step && event.key !== "Home" && event.key !== "End") return;
    event.preventDefault();
    pick(Math.max(0, Math.min(run.gap.length - 1, to_)));
  });
  by("disturbed").addEventListener("click", () => { only = !only; first = 0; by("disturbed").setAttribute("aria-pressed", String(only)); drawRows(); });
  by("back").addEventListener("click", () => { first -= PAGE; drawRows(); });
  by("on").addEventListener("click", () => { first += PAGE; drawRows(); });
  by("log").addEventListener("click", () => { logarithmic = !logarithmic; by("log").setAttribute("aria-pressed", String(logarithmic)); drawGaps(); });
  by("whole").addEventListener("click", () => { from = 0; to = run.gap.length; drawGaps(); });
  const gaps = by("gaps");
  gaps.addEventListener("pointerdown", (event) => { if (gapScale) { gaps.setPointerCapture(event.pointerId); drag = { began: event.offsetX, now: event.offsetX }; } });
  gaps.addEventListener("pointermove", (event) => { if (drag) { drag.now = event.offsetX; drawGaps(); } });
  gaps.addEventListener("pointerup", (event) => {
    if (!drag || !gapScale) return;
    const ends = [placeAt(drag.began), placeAt(event.offsetX)].sort((one, other) => one - other);
    const near = Math.abs(event.offsetX - drag.began) < 5;
    drag = null;
    if (near) pick(Math.max(from, Math.min(to - 1, ends[0])));
    else { const least = Math.max(0, ends[0]), most = Math.min(run.gap.length, ends[1] + 1); if (most - least > 2) { from = least; to = most; } drawGaps(); }
  });
  gaps.addEventListener("pointercancel", () => { drag = null; drawGaps(); });
  window.addEventListener("resize", drawPlots);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawPlots);
  show(0);
})();
