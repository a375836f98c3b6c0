// Shows the definitions that match what is typed: names that are equal first, then those that begin with it.
const MOST = 40;

function rank(name, word) {
  const last = name.slice(name.lastIndexOf(".") + 1);
  if (name === word || last === word) return 0;
  if (last.startsWith(word)) return 1;
  if (last.includes(word)) return 2;
  if (name.includes(word)) return 3;
  return -1;
}

function find(word) {
  const found = [];
  for (const entry of INDEX) {
    const score = rank(entry[0].toLowerCase(), word);
    if (score >= 0) found.push([score, entry]);
  }
  found.sort((a, b) => a[0] - b[0] || a[1][0].length - b[1][0].length);
  return found.slice(0, MOST).map((pair) => pair[1]);
}

function show(list, word) {
  list.replaceChildren();
  const found = word === "" ? [] : find(word);
  const root = document.body.dataset.root;
  for (const [name, kind, page, target, summary] of found) {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = root + target;
    link.textContent = name;
    const more = document.createElement("span");
    more.textContent = " " + kind + " of " + page + (summary ? ": " + summary : "");
    item.append(link, more);
    list.append(item);
  }
  if (word !== "" && found.length === 0) {
    const item = document.createElement("li");
    item.textContent = "no definition matches";
    list.append(item);
  }
  list.hidden = word === "";
}

const box = document.getElementById("search-box");
const results = document.getElementById("search-results");
box.addEventListener("input", () => show(results, box.value.trim().toLowerCase()));
box.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    box.value = "";
    show(results, "");
  } else if (event.key === "Enter") {
    const first = results.querySelector("a");
    if (first) window.location.href = first.href;
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== box) {
    event.preventDefault();
    box.focus();
  }
});
