// Keeps the page up to date: asks every second and a half for what came after the newest event shown. All HTML comes
// from the hub, which escapes it; times are turned into the reader's own.
(() => {
  "use strict";
  const period = 1500, most = 200;
  const live = document.getElementById("live");
  const rows = document.getElementById("events");
  const query = new URLSearchParams(location.search);

  function localTimes(root) {
    const today = new Date().toDateString();
    for (const t of root.querySelectorAll("time:not([data-done])")) {
      const at = new Date(t.dateTime);
      t.dataset.done = "1";
      t.title = at.toLocaleString();
      t.textContent = at.toDateString() === today ? at.toLocaleTimeString() : at.toLocaleString();
    }
  }

  function fill(element, html) {
    if (element.dataset.html === html) return;
    element.dataset.html = html;
    element.innerHTML = html;
    localTimes(element);
  }

  function prepend(html) {
    const part = document.createElement("template");
    part.innerHTML = html;
    for (const row of part.content.querySelectorAll("tr")) row.classList.add("new");
    localTimes(part.content);
    rows.prepend(part.content);
    const all = rows.querySelectorAll("tr");
    for (let i = most; i < all.length; i++) all[i].remove();
    document.getElementById("empty").hidden = all.length > 0;
  }

  async function ask() {
    query.set("after", rows.dataset.last);
    const answer = await fetch("/live?" + query, { cache: "no-store", signal: AbortSignal.timeout(10000) });
    if (!answer.ok) throw new Error(answer.statusText);
    const news = await answer.json();
    fill(document.getElementById("counts"), news.counts);
    fill(document.getElementById("enrol"), news.enrol);
    fill(document.getElementById("rollouts"), news.rollouts);
    fill(document.getElementById("kiosks"), news.kiosks);
    if (news.last > Number(rows.dataset.last)) {
      prepend(news.events);
      rows.dataset.last = news.last;
    }
  }

  async function loop() {
    if (!document.hidden) {
      let on = true;
      try { await ask(); } catch { on = false; }
      live.classList.toggle("off", !on);
      const text = on ? live.dataset.up : live.dataset.down;
      if (live.textContent !== text) live.textContent = text;
    }
    setTimeout(loop, period);
  }

  // A button of a rollout asks the hub for what it says, and shows what the hub answers.
  const refused = document.getElementById("refused");
  document.getElementById("rollouts").addEventListener("click", async (event) => {
    const button = event.target.closest("button[data-do]");
    if (!button || (button.dataset.ask && !confirm(button.dataset.ask))) return;
    button.disabled = true;
    refused.hidden = true;
    try {
      const answer = await fetch("/api/v1/rollouts/" + encodeURIComponent(button.dataset.rollout) + "/" + button.dataset.do, {
        method: "POST",
        headers: { "Content-Type": "application/json", "Docent-Publish": "1" },
        body: JSON.stringify({ by: document.getElementById("rollouts").dataset.by }),
        signal: AbortSignal.timeout(10000),
      });
      if (!answer.ok) throw new Error((await answer.json()).detail);
      await ask();
    } catch (error) {
      refused.textContent = error.message;
      refused.hidden = false;
    }
    button.disabled = false;
  });

  localTimes(document);
  loop();
})();
