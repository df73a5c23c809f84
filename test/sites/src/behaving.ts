// Pages with scripts: delayed, on click, endless, or harmful.

import { htmlOf, numberOf, page, type Routes } from './handler.ts'

const script = (text: string) => `<script>${text}</script>`
const box = 'width:100px;height:100px;background:#00ff00'

const click = htmlOf({
  title: 'waiting',
  style: 'html{background:#ff0000}#go{position:absolute;left:10px;top:10px;width:200px;height:50px}',
  body: `<button id="go">Go</button>${script(`go.onclick = () => { document.documentElement.style.background = '#00ff00'; document.title = 'clicked' }`)}`,
})

const place = (left: number) => `position:absolute;top:0;left:${left}px;width:100px;height:100px;background:#ff0000`

/** Three red boxes on green: an advertisement, a box that a tracker has colored, and a consent banner. */
const clutter = htmlOf({
  title: 'asked',
  style: 'html{background:#00ff00}',
  body: `<div class="adsbygoogle-wrapper" style="${place(0)}">Advertisement</div><div id="tracked" style="${place(100)};background:#00ff00"></div>
<div id="onetrust-consent-sdk"><div id="onetrust-banner-sdk" style="${place(200)}">We use cookies. <button id="onetrust-accept-btn-handler">Accept all</button>
<button id="onetrust-reject-all-handler">Reject all</button></div></div><script src="/fingerprint/iife.min.js"></script>${script(`
const answer = (id, word) => document.getElementById(id).addEventListener('click', () => { document.getElementById('onetrust-consent-sdk').remove(); document.title = word })
answer('onetrust-accept-btn-handler', 'accepted'); answer('onetrust-reject-all-handler', 'refused')`)}`,
})

/**
 * Blue, and three windows tall. When scrolled near its end, it grows by a green window. Its title shows whether the page had time to run.
 */
const feed = htmlOf({
  title: 'hurried',
  body: `<div style="height:900px;background:#0000ff"></div>${script(`
let grown = 0, last = Infinity
addEventListener('scroll', () => {
  if (performance.now() - last > 2500) document.title = 'rested'
  last = performance.now()
  if (scrollY + innerHeight < document.documentElement.scrollHeight - 50 || ++grown > 100) return
  document.body.insertAdjacentHTML('beforeend', '<div style="height:300px;background:#00ff00"></div>')
})`)}`,
})

/** Red, and green with the title `reached` after it has fetched `?url=`. */
const fetching = (url: string) =>
  htmlOf({
    title: 'not reached',
    style: 'html{background:#ff0000}',
    body: script(`fetch(${JSON.stringify(url).replaceAll('<', '\\u003c')}, { mode: 'no-cors' }).then(() => {
  document.documentElement.style.background = '#00ff00'; document.title = 'reached'
})`),
  })

/** Pages with scripts. */
export const behaving: Routes = {
  late: page((query) =>
    htmlOf({
      title: 'Late',
      body: script(
        `setTimeout(() => { document.body.innerHTML = '<div id="late" style="${box}"></div>' }, ${numberOf(query, 'ms', 1_000, 600_000)})`,
      ),
    }),
  ),
  click: page(() => click),
  feed: page(() => feed),
  clutter: page(() => clutter),
  fingerprint: ({ response }) => {
    response.writeHead(200, { 'content-type': 'text/javascript' }).end("tracked.style.background = '#ff0000'")
  },
  reach: page((query) => fetching(query.get('url') ?? '/image')),
  'loop-at-once': page(() => htmlOf({ title: 'Loops at once', body: script('for (;;);') })),
  alerts: page(() =>
    htmlOf({
      title: 'Alerts',
      style: 'html{background:#00ff00}',
      body: script(`onbeforeunload = (event) => event.preventDefault()
let n = 0; const storm = () => { alert(n++); confirm(n++); prompt(n++); setTimeout(storm, 0) }; storm()`),
    }),
  ),
  popups: page(() =>
    htmlOf({
      title: 'Popups',
      style: 'html{background:#00ff00}',
      body: script(`for (let n = 0; n < 20; n++) open('/solid?color=ff0000')`),
    }),
  ),
  memory: page(() =>
    htmlOf({
      title: 'Eats memory',
      body: script('const all = []; setInterval(() => { for (let n = 0; n < 8; n++) all.push(new Uint8Array(8 << 20).fill(n + 1)) }, 10)'),
    }),
  ),
  animated: page(() =>
    htmlOf({
      title: 'Animated',
      style: '@keyframes turn{from{background:#ff0000}to{background:#0000ff}}html{animation:turn 200ms infinite alternate}',
    }),
  ),
}
