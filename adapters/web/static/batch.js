// Selecting several questions; what follows is a page of its own that lists them before anything is decided.
export function startBatch() {
  const bar = document.getElementById("batch-bar");
  if (!bar) return;
  const picks = () => [...document.querySelectorAll("[data-pick]:checked")];
  const show = () => {
    const count = picks().length;
    bar.hidden = count === 0;
    document.getElementById("batch-count").textContent = `${count} selected`;
  };
  document.addEventListener("change", (event) => event.target.matches("[data-pick]") && show());
  window.addEventListener("handraise:exchanged", show);
  window.addEventListener("pageshow", show);
  document.getElementById("batch-clear").addEventListener("click", () => {
    for (const pick of picks()) pick.checked = false;
    show();
  });
  show();
}
