import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type Plugin } from "vite";

// The second verifier reads the message definitions as they stand.
const definitions = (): Plugin => ({
  name: "definitions",
  transform: (code, id) => (id.endsWith(".proto") ? `export default ${JSON.stringify(code)};` : undefined),
});

// Nothing is inlined, so that the pages' policy can forbid inline scripts and styles.
export default defineConfig({
  plugins: [definitions(), svelte()],
  worker: { format: "es", plugins: () => [definitions()] },
  base: "/",
  build: {
    target: "es2022",
    outDir: "../gateway/web",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: "licenses.md" },
  },
});
