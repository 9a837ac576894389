// Shows notifications where pages may not (phones), and opens the question that was tapped.
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const path = event.notification.data?.path ?? "/";
  event.waitUntil(
    self.clients.matchAll({ type: "window" }).then((open) => {
      const page = open.find((each) => new URL(each.url).pathname === path) ?? open[0];
      if (!page) return self.clients.openWindow(path);
      return page.focus().then((focused) => (new URL(page.url).pathname === path ? focused : focused.navigate(path)));
    }),
  );
});
