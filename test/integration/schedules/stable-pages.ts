// Pages that look the same in each capture, although their parts are drawn in many ways.

const SVG = encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="120"><rect width="200" height="120" fill="#cde"/><circle cx="100" cy="60" r="40" fill="#36c"/></svg>',
)
const WORDS = 'The quick brown fox jumps over the lazy dog. '

/** Bodies of pages by name. */
export const STABLE_PAGES: Readonly<Record<string, string>> = {
  article: `<h1 style="font:40px serif">News</h1><p style="font:17px/1.6 sans-serif">${WORDS.repeat(20)}</p>`,
  scripts: '<p lang="ja">日本語の文章</p><p lang="ar" dir="rtl">نص عربي</p><p lang="th">ข้อความภาษาไทย</p><p>Größe ÷ 3 – ☃ 🚀</p>',
  gradients:
    '<div style="height:300px;background:conic-gradient(red,gold,green,blue,red);border-radius:40px;box-shadow:0 0 40px #888"></div>',
  picture: `<img src="data:image/svg+xml,${SVG}" width="400"><img loading="lazy" src="data:image/svg+xml,${SVG}" width="500">`,
  canvas:
    '<canvas id="c" width="500" height="300"></canvas><script>const g=c.getContext("2d");for(let i=0;i<60;i++){g.fillStyle="hsl("+i*6+" 70% 50%)";g.fillRect(i*8,150-Math.sin(i/6)*100,7,200)}</script>',
  table: `<table border="1">${Array.from({ length: 12 }, (_, row) => `<tr>${Array.from({ length: 6 }, (_, cell) => `<td>${row * cell}</td>`).join('')}</tr>`).join('')}</table>`,
  entrance:
    '<style>@keyframes in{from{opacity:0;transform:translateY(80px)}}h2{animation:in 900ms ease-out both}</style><h2>Welcome</h2><h2 style="animation-delay:400ms">Slowly</h2>',
  late: '<ul id="list"></ul><script>setTimeout(()=>{for(let i=0;i<9;i++)list.insertAdjacentHTML("beforeend","<li>Item "+i+"</li>")},300)</script>',
}

/** A page with such a body. */
export const toDocument = (body: string): string => `<!doctype html><title>Page</title><body style="margin:20px;background:#fff">${body}`
