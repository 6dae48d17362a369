import { defineConfig, type Plugin } from "vite";

// One file: the page needs no other request, so each request can carry the token.
function inOneFile(): Plugin {
  return {
    name: "in-one-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      const page = bundle["index.html"];
      if (!page || page.type !== "asset") return;
      let html = String(page.source);
      for (const [name, item] of Object.entries(bundle)) {
        if (item.type === "chunk") {
          const code = item.code.replace(/<\/script/g, "<\\/script");
          html = html.replace(/<script[^>]*src="[^"]*"[^>]*><\/script>/, "");
          html = html.replace("</body>", () => `<script type="module">${code}</script></body>`);
          delete bundle[name];
        } else if (name.endsWith(".css")) {
          html = html.replace(/<link[^>]*rel="stylesheet"[^>]*>/, () => `<style>${item.source}</style>`);
          delete bundle[name];
        }
      }
      page.source = html;
    },
  };
}

export default defineConfig({
  plugins: [inOneFile()],
  build: { target: "es2022", modulePreload: false, chunkSizeWarningLimit: 2000, cssCodeSplit: false },
});
