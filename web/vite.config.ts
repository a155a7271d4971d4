import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

// Nothing is inlined, so that the pages' policy can forbid inline scripts and styles.
export default defineConfig({
  plugins: [svelte()],
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
