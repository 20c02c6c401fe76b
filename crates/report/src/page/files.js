// Files that the user can save: data and pictures. The browser makes these files without requests to a server.

/** @type {(name: string, content: Blob | string, type?: string) => void} */
function save(name, content, type) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = make("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** A file name made from `title`.
 * @type {(title: string, ending: string) => string} */
function fileName(title, ending) {
  const words = title.normalize("NFKD").replace(/[^\p{L}\p{N}.]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 80);
  return `${words || "destage"}.${ending}`;
}

/** @param {(Data.Value | undefined)[][]} rows */
function csv(rows) {
  const cell = (/** @type {Data.Value | undefined} */ value) => {
    const text = value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  return rows.map((row) => row.map(cell).join(",") + "\n").join("");
}

/** Saves the picture `svg` as PNG, with twice its width and height.
 * @type {(name: string, svg: string, width: number, height: number) => void} */
function savePng(name, svg, width, height) {
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  const image = new Image();
  image.onload = () => {
    const canvas = make("canvas", { width: 2 * width, height: 2 * height });
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.drawImage(image, 0, 0, 2 * width, 2 * height);
    URL.revokeObjectURL(url);
    // A browser makes no picture of a canvas that is too large for it. Then the picture is saved as SVG.
    canvas.toBlob((picture) => (picture ? save(name, picture) : save(name.replace(/png$/, "svg"), svg, "image/svg+xml")), "image/png");
  };
  image.src = url;
}
