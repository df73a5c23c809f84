import type { IncomingMessage, ServerResponse } from 'node:http'
import { html } from './html.ts'

// Pages whose pixels and behaviour the tests know; README.md lists them. Margins are zero, colours are plain, nothing is random.

export interface Visit {
  request: IncomingMessage
  response: ServerResponse
  url: URL
  /** What follows the page's name in the path. */
  argument: string
}

type Page = (visit: Visit) => void

const style = (css: string): string => `<style>*{margin:0;padding:0}html,body{height:100%}${css}</style>`
const number = (url: URL, name: string, otherwise: number): number => Number(url.searchParams.get(name) ?? otherwise)
const hits = new Map<string, number>()

/** Colour of band n of /tall: every channel tells the number apart from its neighbours. */
export const bandColour = (n: number): [number, number, number] => [(n * 37) % 256, (n * 91) % 256, (n * 151) % 256]

const BAND_HEIGHT = 1000

const quadrants: Page = ({ response }) => {
  const box = (colour: string, left: number, top: number): string =>
    `<div style="position:fixed;left:${left}%;top:${top}%;width:50%;height:50%;background:${colour}"></div>`
  const boxes = [box('#ff0000', 0, 0), box('#00ff00', 50, 0), box('#0000ff', 0, 50), box('#ffff00', 50, 50)]
  html(response, `<title>Quadrants</title>${style('')}${boxes.join('')}`)
}

const colour: Page = ({ response, argument, url }) => {
  const hex = /^[0-9a-f]{6}$/.test(argument) ? argument : '808080'
  setTimeout(() => html(response, `<title>${hex}</title>${style(`body{background:#${hex}}`)}`), number(url, 'ms', 0))
}

const tall: Page = ({ response, url }) => {
  const count = Math.ceil(number(url, 'height', 30_000) / BAND_HEIGHT)
  const band = (_: unknown, n: number): string => `<div style="height:${BAND_HEIGHT}px;background:rgb(${bandColour(n).join()})"></div>`
  const header = '<header style="position:fixed;top:0;left:0;right:0;height:50px;background:#000"></header>'
  html(response, `<title>Tall</title>${style('html,body{height:auto}')}${header}${Array.from({ length: count }, band).join('')}`)
}

const lazy: Page = ({ response }) => {
  const image = (_: unknown, n: number): string =>
    `<img loading="lazy" width="200" height="200" src="/square/${n}"><div style="height:1800px"></div>`
  html(response, `<title>Lazy</title>${style('html,body{height:auto}img{display:block}')}${Array.from({ length: 5 }, image).join('')}`)
}

const square: Page = ({ response }) => {
  response.writeHead(200, { 'content-type': 'image/svg+xml' })
  response.end('<svg xmlns="http://www.w3.org/2000/svg" width="200" height="200"><rect width="200" height="200" fill="#ff00ff"/></svg>')
}

const late: Page = ({ response, url }) => {
  const script = `setTimeout(()=>{const d=document.createElement('div');d.id='late';d.style='position:fixed;inset:0;background:#00ff00';document.body.append(d)},${number(url, 'ms', 1000)})`
  html(response, `<title>Late</title>${style('body{background:#ff0000}')}<body><script>${script}</script></body>`)
}

const click: Page = ({ response }) => {
  const button = `<button id="consent" style="position:fixed;inset:0;background:#ff0000;border:0" onclick="this.style.background='#00ff00'"></button>`
  html(response, `<title>Click</title>${style('')}${button}`)
}

const dark: Page = ({ response }) =>
  html(response, `<title>Dark</title>${style('body{background:#fff}@media(prefers-color-scheme:dark){body{background:#000}}')}`)

const transparent: Page = ({ response }) =>
  html(response, `<title>Transparent</title>${style('')}<div style="width:100px;height:100px;background:#ff0000"></div>`)

const csp: Page = ({ response }) =>
  html(response, '<title>Strict</title><body bgcolor="#ffffff"></body>', 200, { 'content-security-policy': "default-src 'none'" })

const size: Page = ({ response }) =>
  html(
    response,
    `<title></title><script>document.title=innerWidth+'x'+innerHeight+'@'+devicePixelRatio</script>${style('body{background:#336699}')}`,
  )

const agent: Page = ({ request, response }) =>
  html(response, `<title>${(request.headers['user-agent'] ?? '').replaceAll('<', '')}</title>${style('body{background:#336699}')}`)

const status: Page = ({ response, argument }) =>
  html(response, `<title>Status ${Number(argument)}</title>${style('body{background:#ff8800}')}`, Number(argument) || 500)

const redirect: Page = ({ response, url }) =>
  void response.writeHead(number(url, 'code', 302), { location: url.searchParams.get('to') ?? '/quadrants' }).end()

const redirectloop: Page = ({ response }) => void response.writeHead(302, { location: '/redirectloop' }).end()

const slow: Page = ({ response, url }) =>
  void setTimeout(() => html(response, `<title>Slow</title>${style('body{background:#00ff00}')}`), number(url, 'ms', 5000))

const loop: Page = ({ response }) => html(response, '<title>Loop</title><body>loop<script>setTimeout(()=>{for(;;);},100)</script>')

const alerts: Page = ({ response }) =>
  html(response, `<title>Alerts</title>${style('body{background:#00ff00}')}<script>for(let i=0;i<200;i++)alert(i)</script>`)

const popups: Page = ({ response }) =>
  html(response, `<title>Popups</title>${style('body{background:#00ff00}')}<script>for(let i=0;i<20;i++)open('/quadrants')</script>`)

const download: Page = ({ response }) =>
  void response.writeHead(200, { 'content-type': 'application/zip', 'content-disposition': 'attachment; filename=a.zip' }).end('PK')

/** Answers nothing, ever; the client gives up. */
const never: Page = () => undefined

const reset: Page = ({ request }) => void request.socket.destroy()

const memory: Page = ({ response }) =>
  html(
    response,
    `<title>Memory</title><script>const a=[];setInterval(()=>{for(let i=0;i<8;i++){const b=new Uint8Array(16777216);b.fill(1);a.push(b)}},10)</script>`,
  )

/** Counts visits, for tests that must see whether a page was really fetched. */
const hit: Page = ({ response, argument }) => {
  hits.set(argument, (hits.get(argument) ?? 0) + 1)
  html(response, `<title>Hit</title>${style('body{background:#00ff00}')}`)
}

const hitsof: Page = ({ response, argument }) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ hits: hits.get(argument) ?? 0 }))

/** Tries to reach `target` in the way that the path names, from a page that is allowed. */
const attack: Page = ({ response, url, argument }) => {
  const target = JSON.stringify(url.searchParams.get('target') ?? '').replaceAll('<', '\\u003c')
  const ways: Record<string, string> = {
    iframe: `const f=document.createElement('iframe');f.src=${target};document.body.append(f)`,
    image: `new Image().src=${target}`,
    fetch: `fetch(${target},{mode:'no-cors'}).catch(()=>{})`,
    websocket: `new WebSocket(${target}.replace(/^http/,'ws'))`,
    link: `const a=document.createElement('a');a.href=${target};document.body.append(a);setTimeout(()=>a.click(),50)`,
    beacon: `navigator.sendBeacon(${target},'x')`,
    webrtc: `const h=new URL(${target}).host;const p=new RTCPeerConnection({iceServers:[{urls:'stun:'+h},{urls:'turn:'+h+'?transport=tcp',username:'u',credential:'c'}]});p.createDataChannel('x');p.createOffer().then(o=>p.setLocalDescription(o))`,
  }
  html(
    response,
    `<title>Attack</title>${style('body{background:#808080}')}<body><script>try{${ways[argument] ?? ''}}catch{}</script></body>`,
  )
}

const index: Page = ({ response }) =>
  html(
    response,
    `<title>Pages</title>${style('body{background:#fff;font:16px sans-serif}')}<h1>Pages to capture</h1><ul>${Object.keys(pages)
      .filter(Boolean)
      .map((name) => `<li>/${name}</li>`)
      .join('')}</ul>`,
  )

/** Every page, by the first part of its path. */
export const pages: Readonly<Record<string, Page>> = {
  '': index,
  agent,
  alerts,
  attack,
  click,
  colour,
  csp,
  dark,
  download,
  hit,
  hitsof,
  late,
  lazy,
  loop,
  memory,
  never,
  popups,
  quadrants,
  redirect,
  redirectloop,
  reset,
  size,
  slow,
  square,
  status,
  tall,
  transparent,
}
