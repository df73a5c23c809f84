import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import type { PageFunctionName } from '../../../../capture-runner/src/page/functions.ts'
import { sources } from '../../../../capture-runner/src/page/generated/sources.ts'
import { bundleProgram } from '../../../cluster/images/bundle.ts'
import { type OpenDocument, openLab, WINDOW } from './lab.ts'

// Every page function in a real page. A new function needs a case: the table has a row for each name.

const open = await openLab(t)

interface Case {
  /** The document. */
  html?: string
  run: (t: Test, document: OpenDocument) => Promise<unknown>
}

const BANNER = `<div id="bar" style="position:fixed;bottom:0;width:100%;height:80px">We use cookies.
  <button onclick="document.title = 'accepted'">Accept all</button><button onclick="document.title = 'rejected'">Reject all</button></div>`
const SCROLLER = '<body style="margin:0"><div id="panel" style="height:600px;overflow-y:auto"><div style="height:2000px">tall</div></div>'
const TALL = '<div style="height:3000px">tall</div>'
const SQUARE = '<div id="one" class="square" style="position:absolute;left:100px;top:50px;width:30px;height:40px">one</div>'

const styleOf = (selector: string, property: string): string => `getComputedStyle(document.querySelector('${selector}')).${property}`

const cases: Record<PageFunctionName, Case> = {
  addSheet: {
    html: SQUARE,
    run: async (t, { call, read }) => {
      await call('addSheet', '#one { color: rgb(0, 128, 0) }')
      t.equal(await read(styleOf('#one', 'color')), 'rgb(0, 128, 0)')
    },
  },
  adjustGlobals: {
    run: async (t, { call, session, contextId }) => {
      await call('adjustGlobals', { width: 8, height: 85 })
      const expression = `(() => {
        const { get, set, ...rest } = Object.getOwnPropertyDescriptor(globalThis, 'outerWidth')
        const errorOf = (run) => { try { run() } catch ({ name, message }) { return name + ': ' + message } }
        const facts = {
          more: [outerWidth - screen.width, outerHeight - screen.height], rest: { ...rest, set: typeof set },
          texts: [String(get), Function.prototype.toString + '', get.name + get.length, 'prototype' in get],
          errors: [errorOf(() => get.call({})), errorOf(() => new get()), errorOf(() => Function.prototype.toString.call(1))],
        }
        outerWidth = 7
        return JSON.stringify({ ...facts, replaced: outerWidth })
      })()`
      const { result } = await session.send('Runtime.evaluate', { expression, contextId })
      t.strictSame(JSON.parse(String(result.value)), {
        more: [8, 85],
        rest: { enumerable: true, configurable: true, set: 'function' },
        texts: ['function get outerWidth() { [native code] }', 'function toString() { [native code] }', 'get outerWidth0', false],
        errors: [
          'TypeError: Illegal invocation',
          'TypeError: get is not a constructor',
          "TypeError: Function.prototype.toString requires that 'this' be a Function",
        ],
        replaced: 7,
      })
    },
  },
  advanceAnimations: {
    html: `<style>@keyframes grow { to { width: 200px } } #one { width: 100px; animation: grow 10s linear, grow 1s infinite }</style><div id="one"></div><canvas></canvas><marquee>news</marquee>
      <svg><rect><animate attributeName="x" values="10;20" dur="1s" repeatCount="indefinite"/><animate attributeName="y" begin="click" dur="1s"/></rect></svg>`,
    run: async (t, { call, read }) => {
      t.strictSame(await call('advanceAnimations', 0, 20_000), {
        hasChanges: false,
        hasGrown: true,
        animations: 1,
        endless: 2,
        canvases: 1,
        marquees: 1,
        hasDrawnImages: false,
      })
      await read("document.body.append('more')")
      t.strictSame(await call('advanceAnimations', 20_000, 20_000), {
        hasChanges: true,
        hasGrown: true,
        animations: 0,
        endless: 2,
        canvases: 1,
        marquees: 1,
        hasDrawnImages: false,
      })
      await read("document.body.insertAdjacentHTML('beforeend', '<img src=/logo.svg><b id=two></b>')")
      const seen = await call('advanceAnimations', 0, 20_000)
      t.match(seen, { hasDrawnImages: true, hasGrown: true })
      await read("two.append('one word ')")
      t.match(await call('advanceAnimations', 0, 20_000), { hasGrown: true })
      await read("two.append('more ')")
      t.match(await call('advanceAnimations', 0, 20_000), { hasGrown: true }, 'a text that is added is shorter than the one before')
      await read("two.textContent = '12:00:00 today.'")
      t.match(await call('advanceAnimations', 0, 20_000), { hasGrown: true })
      await read("two.textContent = '12:00:01 today.'")
      await call('advanceAnimations', 0, 20_000)
      await read("two.textContent = '12:00:02 today.'")
      t.match(await call('advanceAnimations', 0, 20_000), { hasGrown: false })
    },
  },
  clickBannerButton: {
    html: BANNER,
    run: async (t, { call, read }) => {
      t.equal(await call('clickBannerButton', false), true)
      t.equal(await read('document.title'), 'rejected')
    },
  },
  collapseBlocked: {
    html: '<img src="http://page.test/a.png"><img src="http://page.test/b.png">',
    run: async (t, { call, read }) => {
      await call('collapseBlocked', ['http://page.test/a.png'])
      t.strictSame(await read('[...document.images].map((image) => getComputedStyle(image).display)'), ['none', 'inline'])
    },
  },
  countChanges: {
    run: async (t, { call, read }) => {
      t.equal(await call('countChanges'), 0)
      await read("document.body.append('a'), document.body.append('b')")
      t.equal(await call('countChanges'), 2)
      t.equal(await call('countChanges'), 0)
    },
  },
  countElements: { html: '<p>a<p>b', run: async (t, { call }) => t.equal(await call('countElements'), 5) },
  countLoading: {
    html: '<input value="text"><script>document.querySelector("input").focus()</script>',
    run: async (t, { call, read }) => {
      t.equal(await call('countLoading', 1_000), 0)
      t.equal(await read(styleOf('input', 'caretColor')), 'rgba(0, 0, 0, 0)')
    },
  },
  coverMatches: {
    html: SQUARE,
    run: async (t, { call, read }) => {
      t.strictSame(await call('coverMatches', { selectors: ['#one', '.absent'], color: 'rgb(255, 0, 0)' }), [1, 0])
      t.strictSame(await read("[...document.querySelectorAll('[popover] > div')].map((box) => getComputedStyle(box).width)"), ['30px'])
      t.equal(await read(styleOf('#one', 'visibility')), 'hidden')
    },
  },
  endAnimations: {
    html: `<style>@keyframes grow { from { width: 0 } to { width: 200px } } #one { width: 100px; animation: grow 100s both }
      @keyframes show { from { opacity: 1 } to { opacity: 0.5 } } #two { opacity: 0; animation: show 1s 5s infinite }</style>
      <div id="one"></div><div id="two"></div><svg><rect id="three"><animate attributeName="x" values="10;20" begin="4s" dur="3s" repeatCount="indefinite"/></rect></svg>
      <svg><rect id="four"><animate attributeName="x" from="0" to="30" dur="9s" fill="freeze"/></rect></svg>`,
    run: async (t, { call, read }) => {
      await call('endAnimations')
      t.equal(await read(styleOf('#one', 'width')), '200px')
      t.equal(await read(styleOf('#two', 'opacity')), '1')
      t.strictSame(await read('[three, four].map((rect) => rect.x.animVal.value)'), [10, 30])
      t.strictSame(await read("[...document.querySelectorAll('svg')].map((drawing) => drawing.animationsPaused())"), [true, true])
    },
  },
  findAreas: {
    html: '<style>body { margin: 0 }</style><p style="width:400px;height:300px;margin:0">text</p>',
    run: async (t, { call }) => t.strictSame(await call('findAreas', ['p', '.absent']), [{ left: 0, top: 0, right: 0.5, bottom: 0.5 }]),
  },
  findBrokenRule: {
    html: '<p>Sold   Out</p><i class="error"></i>',
    run: async (t, { call }) => {
      const rules = { refusedWords: [], neededWords: [], refusedSelectors: [] }
      t.equal(await call('findBrokenRule', rules), null)
      t.strictSame(await call('findBrokenRule', { ...rules, refusedWords: ['sold out'] }), { rule: 'contains', value: 'sold out' })
      t.strictSame(await call('findBrokenRule', { ...rules, neededWords: ['In stock'] }), { rule: 'missing', value: 'In stock' })
      t.strictSame(await call('findBrokenRule', { ...rules, refusedSelectors: ['.error'] }), { rule: 'selector', value: '.error' })
    },
  },
  findFolded: {
    html: SCROLLER,
    run: async (t, { call }) =>
      t.match(await call('findFolded'), [{ part: 'div#panel', reason: 'other', width: 800, height: 600, whole: 2_000 }]),
  },
  findIgnoredBoxes: {
    html: `${SQUARE}${TALL}<details><summary>more</summary><p class="closed">text</p></details>`,
    run: async (t, { call, read }) => {
      await read('scrollTo(0, 20)')
      t.strictSame(await call('findIgnoredBoxes', ['#one', '.absent']), [[{ x: 100, y: 50, width: 30, height: 40 }], []])
      t.strictSame(
        await call('findIgnoredBoxes', ['.closed']),
        [[]],
        'the browser lays out what it leaves out, if a script asks for its boxes',
      )
    },
  },
  findLoader: {
    run: async (t, { call }) => {
      t.equal(await call('findLoader', '<p style="color: red">text</p>'), null)
      t.equal(await call('findLoader', '<iframe src="x"></iframe>'), '<iframe>')
      t.equal(await call('findLoader', '<style>@import "x.css"</style>'), '@import')
    },
  },
  findMovingAreas: {
    html: '<style>body { margin: 0 }</style><video style="display:block;width:400px;height:300px"></video>',
    run: async (t, { call }) => t.strictSame(await call('findMovingAreas'), [{ left: 0, top: 0, right: 0.5, bottom: 0.5 }]),
  },
  findPresence: {
    html: `<p class="one">text</p><p class="two" hidden>text</p><details><summary class="sum">more</summary><b class="three">text</b></details>
      <dialog class="four">text</dialog><p hidden="until-found"><b class="five">text</b></p><p class="six" style="display:contents">text</p>`,
    run: async (t, { call }) => {
      t.equal(await call('findPresence', '.one', {}), 'there')
      t.equal(await call('findPresence', '.none', {}), 'absent')
      const reasons = { two: 'hidden', sum: 'there', three: 'details', four: 'dialog', five: 'skipped', six: 'there' }
      for (const [name, reason] of Object.entries(reasons)) t.equal(await call('findPresence', `.${name}`, {}), reason, name)
      t.equal(await call('findPresence', '.two', { isVisible: false }), 'there')
      t.equal(await call('findPresence', 'p', { isVisible: false, count: 5 }), 'absent')
    },
  },
  findRegions: {
    html: SQUARE + SQUARE,
    run: async (t, { call, read }) => {
      const box = { x: 100, y: 50, width: 30, height: 40 }
      const region = { painted: box, own: box, whole: box }
      t.strictSame(await call('findRegions', { selector: '.square', all: false }), [region])
      t.strictSame(await call('findRegions', { selector: '.square', all: true }), [region, region])
      const frame = `<iframe style="width:300px;height:200px;border:10px solid;transform:scale(0.5);transform-origin:0 0" srcdoc='<body style="margin:0"><p id="inner" style="margin:20px;width:100px;height:40px">text</p>'></iframe>`
      await read(
        `document.body.innerHTML = ${JSON.stringify(frame)}, new Promise((loaded) => { document.querySelector('iframe').onload = loaded })`,
      )
      const [{ painted } = {}] = await call('findRegions', { selector: '#inner', all: false })
      t.strictSame(painted, { x: 23, y: 23, width: 50, height: 20 }, 'in a frame of half its size')
      await read(
        `document.body.innerHTML = '<svg width="400" height="400" viewBox="0 0 200 200" style="position:absolute;left:0;top:0"><g id="part"><defs><rect stroke="red" width="190" height="190"/></defs><rect stroke="red" display="none" width="200" height="200"/><path stroke="red" stroke-width="10" d="M20 50 H80"/><rect x="30" y="60" width="20" height="10"/></g></svg><ruby style="position:absolute;top:500px">m<rt style="font-size:60px">a</rt></ruby>'`,
      )
      const [{ painted: stroked } = {}] = await call('findRegions', { selector: '#part', all: false })
      t.strictSame(stroked, { x: 30, y: 90, width: 140, height: 50 }, 'the strokes of a part of a drawing')
      const [{ painted: letters } = {}] = await call('findRegions', { selector: 'ruby', all: false })
      t.ok(letters && letters.height > 60, 'the letters above a word')
    },
  },
  findScroller: {
    html: SCROLLER,
    run: async (t, { call }) => t.strictSame(await call('findScroller'), { end: 1400, windowHeight: 600 }),
  },
  findSelectorFault: {
    run: async (t, { call }) => {
      const rule = (text: string) => ({ text, isRule: true })
      t.equal(await call('findSelectorFault', [rule('.a > b')]), null)
      t.strictSame(await call('findSelectorFault', [rule('.a'), rule('p:')]), { index: 1, fault: 'invalid' })
      t.strictSame(await call('findSelectorFault', [rule('a /* open')]), { index: 0, fault: 'open' })
    },
  },
  findShownImages: {
    html: `<i style="display:block;height:9px;background:url(http://page.test/a.png)"></i><u style="display:none;background:url(http://page.test/b.png)"></u>
      <svg width="9" height="9"><pattern id="dots"><image href="http://page.test/d.png" /></pattern></svg>`,
    run: async (t, { call }) => {
      const urls = ['a', 'b', 'c', 'd'].map((name) => `http://page.test/${name}.png`)
      t.strictSame(await call('findShownImages', urls, 1_000), [urls[0], urls[3]])
    },
  },
  findUnknownFeatures: {
    run: async (t, { call }) => {
      const features = [
        ['prefers-color-scheme', 'light'],
        ['no-such-feature', 'x'],
      ] as const
      t.strictSame(await call('findUnknownFeatures', features), ['no-such-feature'])
    },
  },
  freezeScrollAnimations: {
    html: `<style>@keyframes fade { from { opacity: 0 } to { opacity: 1 } }
      #one { height: 100px; margin-top: 1000px; animation: fade linear both; animation-timeline: view() }
      #two { height: 100px; animation: fade linear both; animation-timeline: scroll(root); animation-range: 450px 1250px }
      #bar { position: fixed; animation: fade linear both; animation-timeline: scroll(root) }</style>
      <div id="one"></div><div id="two"></div><div id="bar"></div>${TALL}`,
    run: async (t, { call, read }) => {
      await call('freezeScrollAnimations', WINDOW.height)
      t.equal(await read(styleOf('#one', 'opacity')), '0.5')
      t.match(await read(styleOf('#two', 'opacity')), /^0\.5/, 'in the middle of the window after 850 px')
      t.equal(await read(styleOf('#bar', 'opacity')), '0')
    },
  },
  hasNoRule: {
    run: async (t, { call }) => {
      t.equal(await call('hasNoRule', 'body { color: red }'), false)
      t.equal(await call('hasNoRule', 'not a rule'), true)
    },
  },
  hasPlayingSound: { html: '<video></video>', run: async (t, { call }) => t.equal(await call('hasPlayingSound'), false) },
  hideBanners: {
    html: BANNER,
    run: async (t, { call, read }) => {
      t.equal(await call('hideBanners', true), 1)
      t.equal(await read(styleOf('#bar', 'display')), 'none')
    },
  },
  hideFixed: {
    html: BANNER,
    run: async (t, { call, read }) => {
      await call('hideFixed')
      t.equal(await read(styleOf('#bar', 'visibility')), 'hidden')
    },
  },
  hideInShadow: {
    html: '<div id="host"></div><script>host.attachShadow({ mode: "open" }).innerHTML = "<p>text</p>"</script>',
    run: async (t, { call, read }) => {
      await call('hideInShadow', ['p'])
      t.equal(await read("getComputedStyle(host.shadowRoot.querySelector('p')).display"), 'none')
    },
  },
  hasInlineScript: {
    html: '<script>requestIdleCallback(() => {})</script>',
    run: async (t, { call }) => {
      t.equal(await call('hasInlineScript', 'indexedDB|requestIdleCallback'), true)
      t.equal(await call('hasInlineScript', 'indexedDB'), false)
    },
  },
  findLostEffects: {
    html: '<button id="one">one</button><p id="two" hidden>two</p><p id="three">three</p>',
    run: async (t, { call, read }) => {
      await call('noteEffects')
      await read("one.focus(), two.hidden = false, two.title = 'new', three.style.opacity = '.5'")
      await call('keepEffects', 'click')
      await read("two.removeAttribute('title'), dispatchEvent(new Event('resize'))")
      t.strictSame(await call('findLostEffects'), [], 'nobody sees the attribute')
      await read("two.style.display = 'none', dispatchEvent(new Event('resize'))")
      t.strictSame(await call('findLostEffects'), [{ action: 'click', isWhole: false, isCertain: true, elements: ['#two'] }])
      await read("three.style.opacity = 1, dispatchEvent(new Event('resize'))")
      t.match(await call('findLostEffects'), [{ isWhole: true }])
      await read("two.style.display = '', three.style.opacity = '.5'")
      t.strictSame(await call('findLostEffects'), [])
    },
  },
  findPointed: {
    html: '<div id="outer"><p id="one">text</p></div>',
    run: async (t, { call }) => t.equal((await call('findPointed', '#one')).length, 4),
  },
  forgetEndedEffects: {
    run: async (t, { call, read }) => {
      await call('noteEffects')
      await read("document.body.style.color = 'red'")
      await call('keepEffects', 'scripts')
      await read("document.body.style.color = ''")
      await call('forgetEndedEffects')
      await read("dispatchEvent(new Event('resize'))")
      t.strictSame(await call('findLostEffects'), [])
    },
  },
  findWiderPart: {
    html: `<div style="width:300px;overflow:auto"><div style="width:2000px;height:600px">a list beside the content</div></div>
      <div style="scroll-snap-type:x mandatory;overflow-x:auto"><div style="width:2000px;height:600px">a slideshow</div></div>
      <div id="board" style="width:700px;overflow-x:auto"><div style="width:1500px;height:600px">columns</div></div>`,
    run: async (t, { call, read }) => {
      t.strictSame(await call('findWiderPart'), { part: 'div#board', width: 700, whole: 1_500 })
      await read("board.style.overflow = 'hidden'")
      t.equal(await call('findWiderPart'), null, 'no reader can scroll it')
      for (const inner of [
        '<div style="width:900px;height:10px">',
        '<body style="margin:0"><main style="overflow:auto"><div style="width:900px;height:450px">',
      ]) {
        await read(`board.outerHTML = '<iframe id="board" style="width:700px;height:500px;border:0"></iframe>'`)
        await read(
          `board.contentDocument.write('<!doctype html><html dir="rtl"><style>body { margin: 0 }</style>' + ${JSON.stringify(inner)}), board.contentDocument.close()`,
        )
        t.match(await call('findWiderPart'), { width: 700, whole: 900 }, `in a frame that is read from the right: ${inner}`)
      }
    },
  },
  hidesSides: {
    html: '<body style="overflow-x:hidden">wide',
    run: async (t, { call, read }) => {
      t.equal(await call('hidesSides'), true)
      await read("document.documentElement.style.overflow = 'auto'")
      t.equal(await call('hidesSides'), false, 'the root element decides')
    },
  },
  hidesTop: {
    html: '<body style="margin:0"><div id="one" style="height:600px">text</div>',
    run: async (t, { call, read }) => {
      t.equal(await call('hidesTop'), false)
      await read("one.style.opacity = '0'")
      t.equal(await call('hidesTop'), true)
      await read("one.style.position = 'fixed'")
      t.equal(await call('hidesTop'), false, 'a message above the page')
    },
  },
  isSeeking: { html: '<video></video>', run: async (t, { call }) => t.equal(await call('isSeeking'), false) },
  isolateElements: {
    html: `<main>${SQUARE}<p id="other">other</p></main><footer>end</footer>`,
    run: async (t, { call, read }) => {
      await call('isolateElements', { selector: '#one', all: false })
      const opacities = `['main', '#one', '#other', 'footer'].map((one) => getComputedStyle(document.querySelector(one)).opacity).join()`
      t.equal(await read(opacities), '1,1,0,0')
      // What a component shows beside the element in its slot.
      await read("document.querySelector('#one').parentNode.attachShadow({ mode: 'open' }).innerHTML = '<h1>beside</h1><slot></slot>'")
      await call('isolateElements', { selector: '#one', all: false })
      t.equal(await read("getComputedStyle(document.querySelector('main').shadowRoot.querySelector('h1')).opacity"), '0')
    },
  },
  keepScriptingRules: {
    html: `<style>@media (scripting: none) { #one { width: 10px } } @media (scripting: enabled) { #one { height: 20px } }</style>
      <div id="one"></div><noscript>Scripts are off.</noscript>`,
    run: async (t, { call, read }) => {
      await call('keepScriptingRules')
      t.equal(await read('[...document.styleSheets[0].cssRules].map(({ media }) => media.mediaText).join()'), 'not all,all')
      t.equal(await read(styleOf('noscript', 'display')), 'none')
    },
  },
  leaveOutMatches: {
    html: '<div id="one">a<b style="visibility:visible">b</b></div>',
    run: async (t, { call, read }) => {
      t.strictSame(await call('leaveOutMatches', ['#one', '.absent']), [1, 0])
      t.equal(await read(styleOf('#one b', 'visibility')), 'hidden')
    },
  },
  keepEffects: {
    html: '<input id="one"><p id="two">before</p><i id="three">x</i>',
    run: async (t, { call, read }) => {
      await call('noteEffects')
      await read(
        "one.value = 'a', two.textContent = 'after', window.gone = three, gone.remove(), window.added = two.appendChild(document.createElement('b')), added.append('y')",
      )
      await call('keepEffects', 'scripts')
      await read("one.value = '', added.remove(), two.textContent = 'before', two.after(gone), dispatchEvent(new Event('resize'))")
      t.match(await call('findLostEffects'), [{ isWhole: true, elements: ['b', '#three', '#two', '#one'] }])
    },
  },
  looksChallenged: {
    html: '<title>Just a moment...</title>',
    run: async (t, { call }) => t.equal(await call('looksChallenged'), true),
  },
  countSearchable: {
    html: `<!-- a < b --><div id="plain">a &lt; b</div><template><b>x</b></template><details><summary>x</summary>y</details><video controls></video><input type="date"><svg><use href="#plain"/></svg>
      <iframe srcdoc="<p>a"></iframe><marquee>m</marquee><script>"<"</script><style>p::before { content: "<" }</style><x-open></x-open>
      <script>document.querySelector('x-open').attachShadow({ mode: 'open' }).innerHTML = '<i>1 &lt; 2</i>'; document.prepend(document.createComment('<'))</script>`,
    run: async (t, { call, read, session }) => {
      const search = async () => {
        await session.send('DOM.enable')
        return (await session.send('DOM.performSearch', { query: '' })).resultCount
      }
      t.equal(await call('countSearchable'), await search(), 'a page without closed roots')
      await read("plain.attachShadow({ mode: 'closed' }).innerHTML = '<i></i>text'")
      t.equal((await search()) - (await call('countSearchable')), 2, 'a closed root with an element and a text')
    },
  },
  takePasswords: {
    html: '<input id="a" value="Ada"><input id="b" type="password" value="one"><textarea id="c" name="password">two</textarea><input id="d" type="password"><script>d.value = "three"</script>',
    run: async (t, { call, read }) => {
      const values = () => read('[a, b, c, d].map(({ value, defaultValue }) => [value, defaultValue].join(" "))')
      const before = await values()
      await call('takePasswords')
      await call('takePasswords')
      t.strictSame(await values(), ['Ada Ada', ' ', ' ', ' '])
      await call('returnPasswords')
      t.strictSame(await values(), before)
    },
  },
  returnPasswords: {
    html: '<input id="a" type="password" value="one"><input id="b" type="password" value="one">',
    run: async (t, { call, read }) => {
      await call('takePasswords')
      await read("a.value = 'two'")
      await call('returnPasswords')
      t.strictSame(await read('[a.value, b.value]'), ['two', 'one'], 'what a script writes meanwhile stays')
    },
  },
  moveBars: {
    html: `<i id="bar" style="position:fixed;bottom:10px;height:20px">bar</i><i id="head" style="position:fixed;top:0;height:20px">head</i>
      <i id="back" style="position:fixed;bottom:0;width:100%;height:100vh;z-index:-1;background:red"></i><i id="veil" style="position:fixed;inset:0;background:red"></i>
      <i id="modal" style="position:fixed;inset:0;background:red">text</i><b style="anchor-name:--one;position:absolute;top:1500px">one</b>
      <i id="beside" style="position:fixed;position-anchor:--one;position-area:top">beside</i><dialog>text</dialog><script>document.querySelector('dialog').showModal()</script>`,
    run: async (t, { call, read }) => {
      await call('moveBars', { up: 0, down: 1_000 })
      const sides = '[back, veil, modal].flatMap((one) => { const { top, bottom } = one.getBoundingClientRect(); return [top, bottom] })'
      t.strictSame(await read(sides), [0, 1_600, 0, 1_600, 0, 600], 'layers behind and above the page')
      t.equal(await read("getComputedStyle(document.querySelector('dialog'), '::backdrop').height"), '1600px')
      t.equal(await read('beside.getBoundingClientRect().bottom'), 1_500)
      t.strictSame(await read('[bar, head].map((one) => one.getBoundingClientRect().top)'), [1_570, 0])
      await read(
        "document.querySelector('dialog').close(), document.body.style.zoom = .5, bar.removeAttribute('style'), bar.style = 'position:fixed;bottom:10px;height:20px'",
      )
      await call('moveBars', { up: 0, down: 1_000 })
      t.equal(await read('bar.getBoundingClientRect().top'), 1_585, 'in a page with another zoom')
    },
  },
  muteMedia: {
    html: '<video id="media"></video>',
    run: async (t, { call, read }) => {
      await call('muteMedia')
      t.equal(await read("media.dispatchEvent(new Event('play')), media.muted"), true)
    },
  },
  nameElements: {
    html: `<style>body, p { margin: 0 } div { width: 200px; height: 100px }</style><main><div id="one"><p>text</p></div><div class="two"></div>
      <div></div><div style="visibility:hidden"><i style="display:block;height:100px"></i></div></main>`,
    run: async (t, { call }) => {
      const line = (top: number) => ({ left: 0.05, right: 0.2, top: (top + 10) / 600, bottom: (top + 90) / 600 })
      const areas = [0, 100, 200, 300].map(line)
      t.strictSame(await call('nameElements', areas, 0), ['#one', 'div.two', 'main > div:nth-of-type(3)', null])
      t.strictSame(await call('nameElements', [{ left: 0, top: 0.1, right: 1, bottom: 0.2 }], 0), [null], 'only the whole page contains it')
    },
  },
  noteEffects: {
    html: `${TALL}<p>text</p>`,
    run: async (t, { call, read }) => {
      await call('noteEffects')
      await read("document.addEventListener('scroll', () => { document.querySelector('p').style.color = 'red' }), scrollTo(0, 100)")
      await call('nextFrame')
      await call('keepEffects', 'click')
      await read("document.querySelector('p').style.color = '', dispatchEvent(new Event('resize'))")
      t.strictSame(await call('findLostEffects'), [], 'the effect of a scroll is none of the action')
    },
  },
  nextFrame: { run: async (t, { call }) => t.resolves(call('nextFrame')) },
  noteSectionLinks: {
    html: '<li><a href="#one" class="here">one</a></li><p id="one"></p>',
    run: async (t, { call, read }) => {
      await call('noteSectionLinks')
      await read("document.querySelector('a').className = '', document.querySelector('li').setAttribute('aria-current', 'true')")
      await call('restoreSectionLinks')
      t.equal(await read("document.querySelector('li').outerHTML"), '<li><a href="#one" class="here">one</a></li>')
    },
  },
  noteShifts: {
    html: `<style>body { margin: 0 } #two { transform: translateY(calc(var(--top) * 0.25px)) }</style><div style="height:1000px"></div><div style="height:600px"><p id="one" style="margin:0;transform:translateY(0px)">text</p>
      <p id="two" style="margin:0">text</p></div>${TALL}`,
    run: async (t, { call, read }) => {
      for (const top of [0, 500, 1_000]) {
        await read(
          `scrollTo(0, ${top}), one.style.transform = 'translateY(${top / 4}px)', document.body.style.setProperty('--top', ${top})`,
        )
        await call('noteShifts')
      }
      await read("scrollTo(0, 0), one.style.transform = 'translateY(9000px)', document.body.style.setProperty('--top', 9000)")
      await call('placeShifted')
      t.equal(await read('new DOMMatrix(getComputedStyle(one).transform).m42'), 250)
      t.equal(await read('new DOMMatrix(getComputedStyle(two).transform).m42'), 250, 'by a variable of an element around it')
    },
  },
  pinHeights: {
    html: `<div id="one" style="height:100vh"></div><svg id="two" style="height:100vh;border:2px solid"></svg>${TALL}`,
    run: async (t, { page, call, read }) => {
      t.equal((await call('prepareReveal', 100)) > 3_000, true)
      await page.setViewportSize({ ...WINDOW, height: 1_200 })
      await read("document.body.style.height = '4000px'")
      await call('pinHeights')
      t.strictSame(await read('[one, two].map((element) => element.getBoundingClientRect().height)'), [600, 604])
      await call('unpinHeights', true)
      t.equal(await read(styleOf('#one', 'height')), '1200px')
      t.equal(await read('document.body.style.height'), '', 'a height that a script set for the taller window')
      await page.setViewportSize(WINDOW)
    },
  },
  placeShifted: {
    html: `<p id="one" style="transform:translateY(9px)">text</p>${TALL}`,
    run: async (t, { call, read }) => {
      await call('noteShifts')
      await call('placeShifted')
      t.equal(await read('one.style.transform'), 'translateY(9px)')
    },
  },
  prepareReveal: {
    html: `<div id="one" style="content-visibility:auto">text</div><div id="two" style="height:100px;overflow:auto">text</div>${TALL}`,
    run: async (t, { call, read }) => {
      await call('prepareReveal', 100)
      t.equal(await read(styleOf('#one', 'contentVisibility')), 'visible')
      await read("two.style.height = '900px'")
      await call('prepareReveal', 100)
      t.equal(await read(styleOf('#two', 'height')), '900px', 'a part that a script made taller in the page’s own window')
    },
  },
  placeOfPointed: {
    html: `<p id="one">text</p>${TALL}<p id="two">text</p><p id="three" hidden>text</p>`,
    run: async (t, { call }) =>
      t.strictSame(
        [await call('placeOfPointed', '#one'), await call('placeOfPointed', '#two'), await call('placeOfPointed', '#three')],
        ['inside', 'outside', 'absent'],
      ),
  },
  readDocumentFacts: {
    html: '<title>Title</title><body>text',
    run: async (t, { call }) => {
      const facts = { hasBody: true, title: 'Title', url: 'http://page.test/', status: 200, isChallenged: false, forms: [] }
      t.strictSame(await call('readDocumentFacts'), facts)
    },
  },
  readExtent: {
    html: '<body style="margin:0"><div style="height:900px"></div>',
    run: async (t, { call, read }) => {
      t.strictSame(await call('readExtent'), { ...WINDOW, scrollHeight: 900 })
      await read(`document.body.innerHTML = '<div style="height:100vh;overflow:auto"><p style="height:2000px;margin:0">tall</p></div>'`)
      t.strictSame(await call('readExtent'), { ...WINDOW, scrollHeight: 2_000 })
    },
  },
  readHtml: {
    html: '<!doctype html><html><head></head><body>text</body></html>',
    run: async (t, { call }) => {
      const head = `<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="script-src 'none'"><base href="http://page.test/">`
      const html = `<!DOCTYPE html>\n<html><head>${head}</head><body>text</body></html>`
      t.strictSame(await call('readHtml'), { html, lost: {} })
    },
  },
  readNotes: {
    html: '<meta property="og:title" content="Title"><link rel="icon" href="/icon.png"><a href="/next">next</a>',
    run: async (t, { call }) => {
      const notes = await call('readNotes', ['openGraph', 'icon', 'links', 'timings'], { addressLength: 2_048 })
      t.match(notes, {
        openGraph: { 'og:title': 'Title' },
        icon: 'http://page.test/icon.png',
        links: ['http://page.test/next'],
        timings: { load: Number },
      })
    },
  },
  readPageFacts: {
    html: '<p id="one" class="a b"><a href="/next">next</a>',
    run: async (t, { call }) => {
      const facts = { url: 'http://page.test/', ids: ['one'], classes: ['a', 'b'], hrefs: ['/next'] }
      t.strictSame(await call('readPageFacts', 100), facts)
    },
  },
  readPdfOutcome: { run: async (t, { call }) => t.equal(await call('readPdfOutcome'), undefined) },
  readStart: {
    html: '<body style="margin:0"><div style="width:2000px">wide</div>',
    run: async (t, { call, read }) => {
      t.equal(await call('readStart'), 0)
      await read("document.body.style.direction = 'rtl'")
      t.equal(await call('readStart'), 1_200)
      await read("document.documentElement.style.writingMode = document.body.style.writingMode = 'vertical-lr'")
      t.equal(await call('readStart'), 0, 'columns are read from the left')
    },
  },
  readText: {
    html: '<p>shown</p><p hidden>hidden</p><details><summary>more</summary>closed</details>',
    run: async (t, { call, read }) => {
      t.equal((await call('readText')).trim().replace(/\s+/g, ' '), 'shown more')
      await read("document.documentElement.append('beside the body')")
      await read("document.querySelector('p').attachShadow({ mode: 'open' }).append('shadow')")
      t.equal((await call('readText')).trim().replace(/\s+/g, ' '), 'shadow more beside the body')
    },
  },
  readTransparency: {
    run: async (t, { call }) => {
      t.strictSame(
        [
          await call('readTransparency', 'red'),
          await call('readTransparency', 'rgb(0 0 0 / 50%)'),
          await call('readTransparency', 'no color'),
        ],
        [0, 0.5, null],
      )
    },
  },
  openHere: {
    html: `<a href="#link">link</a><form method="post" action="#post"><button formmethod="get" formaction="?q">get</button></form>`,
    run: async (t, { call, read }) => {
      const at = (path: string) => `http://page.test/${path}`
      t.equal(await call('openHere', at('#post'), true), 'posted')
      t.equal(await call('openHere', at('#other'), false), 'foreign')
      t.equal(await call('openHere', at('#link'), false), 'opened')
      t.equal(await read('location.hash'), '#link')
      t.equal(await call('openHere', at('#other'), true), 'opened')
      t.equal(await read('location.hash + document.links.length'), '#other1')
    },
  },
  readUrl: { run: async (t, { call }) => t.equal(await call('readUrl'), 'http://page.test/') },
  redactMatches: {
    html: '<p id="one" title="secret">secret</p><script>// secret</script><!-- secret --><input id="two" value="secret"><canvas id="three"></canvas>',
    run: async (t, { call, read }) => {
      t.strictSame(await call('redactMatches', ['#one, #two, #three']), [3])
      t.notMatch(await read('document.documentElement.outerHTML + document.querySelector("input").value'), /secret/)
      t.equal(await read('document.querySelector("canvas")'), null, 'a canvas may have a drawing')
    },
  },
  refuseWebSockets: {
    run: async (t, { call, session, contextId }) => {
      await call('refuseWebSockets')
      const expression = `new Promise((end) => { const socket = new WebSocket('ws://page.test/'); socket.onclose = ({ code }) => end([code, socket.readyState, WebSocket.OPEN]) })`
      const { result } = await session.send('Runtime.evaluate', { expression, contextId, awaitPromise: true, returnByValue: true })
      t.strictSame(result.value, [1006, 3, 1])
    },
  },
  rememberClosedRoots: {
    html: '<x-host></x-host><script>globalThis.root = document.querySelector("x-host").attachShadow({ mode: "closed" }); root.innerHTML = "<p>secret</p>"</script>',
    run: async (t, { call, session, contextId }) => {
      t.equal(await call('readText'), '')
      const { root } = await session.send('DOM.getDocument')
      const { nodeId } = await session.send('DOM.querySelector', { nodeId: root.nodeId, selector: 'x-host' })
      const { node } = await session.send('DOM.describeNode', { nodeId, pierce: true })
      const backendNodeId = node.shadowRoots?.[0]?.backendNodeId ?? 0
      const { object } = await session.send('DOM.resolveNode', { backendNodeId, executionContextId: contextId })
      const remembered = { functionDeclaration: sources.rememberClosedRoots, arguments: [{ objectId: object.objectId ?? '' }] }
      await session.send('Runtime.callFunctionOn', { ...remembered, executionContextId: contextId })
      t.equal(await call('readText'), 'secret')
    },
  },
  removeSharedWorkers: {
    run: async (t, { call, session, contextId }) => {
      await call('removeSharedWorkers')
      const { result } = await session.send('Runtime.evaluate', { expression: "'SharedWorker' in globalThis", contextId })
      t.equal(result.value, false)
    },
  },
  // The cursor is hidden in the first half of its round. Of the slides, one is.
  restAnimations: {
    html: `<style>@keyframes grow { to { width: 200px } } div { width: 100px; animation: grow 1s linear infinite } #two { animation-delay: -0.5s } #three { animation-play-state: paused }
      @keyframes blink { from { opacity: 0 } 50% { opacity: 1 } } #cursor { animation: blink 1s step-end infinite }
      @keyframes slide { from { opacity: 0 } 50% { opacity: 1 } } .slide { animation: slide 1s step-end infinite } .slide + .slide { animation-delay: -0.5s }</style>
      <div id="one"></div><div id="two"></div><div id="three"></div><div id="cursor"></div><div class="slide"></div><div class="slide"></div>
      <svg><rect id="rect"><animate attributeName="x" from="0" to="1000" dur="1s" repeatCount="indefinite"/></rect></svg>`,
    run: async (t, { call, read }) => {
      for (let time = 0; time < 2; time++) {
        await call('restAnimations', 2_000)
        t.strictSame(await read('[one, two, three].map((div) => getComputedStyle(div).width)'), ['114px', '164px', '100px'])
        t.strictSame(await read("[...document.querySelectorAll('#cursor, .slide')].map((div) => getComputedStyle(div).opacity)"), [
          '1',
          '0',
          '1',
        ])
        t.equal(await read('Math.round(rect.x.animVal.value)'), 140)
      }
    },
  },
  restInMarquees: {
    html: '<style>marquee { display: block; width: 400px } i { position: relative; display: inline-block; width: 100px }</style><marquee><i id="one">x</i></marquee><marquee behavior="Slide"><i id="two">x</i></marquee>',
    run: async (t, { session, contextId, read }) => {
      const { root } = await session.send('DOM.getDocument')
      const { nodeIds } = await session.send('DOM.querySelectorAll', { nodeId: root.nodeId, selector: 'marquee' })
      const roots: { objectId: string }[] = []
      for (const nodeId of nodeIds) {
        const { node } = await session.send('DOM.describeNode', { nodeId, pierce: true })
        const backendNodeId = node.shadowRoots?.[0]?.backendNodeId ?? 0
        const { object } = await session.send('DOM.resolveNode', { backendNodeId, executionContextId: contextId })
        roots.push({ objectId: object.objectId ?? '' })
      }
      const rested = { functionDeclaration: sources.restInMarquees, arguments: roots, executionContextId: contextId }
      await session.send('Runtime.callFunctionOn', rested)
      const places = '[one, two].map((one) => one.getBoundingClientRect().x - one.parentElement.getBoundingClientRect().x)'
      t.strictSame(await read(places), [150, 0])
    },
  },
  restOfAction: {
    run: async (t, { call, read }) => {
      await call('noteEffects')
      await read("document.body.title = 'x'")
      t.ok((await call('restOfAction')) < 10_000)
      await read('document.body.animate({ opacity: [0, 1] }, 60_000)')
      t.equal(await call('restOfAction'), 0)
    },
  },
  restoreFocus: {
    html: '<input id="one">',
    run: async (t, { call, read }) => {
      await call('noteEffects')
      await read('one.focus()')
      await call('keepEffects', 'click')
      await read("one.blur(), dispatchEvent(new Event('resize'))")
      await call('restoreFocus')
      t.equal(await read('document.activeElement.id'), 'one')
    },
  },
  restoreSectionLinks: { run: async (t, { call }) => t.resolves(call('restoreSectionLinks')) },
  rewindMedia: {
    html: '<video id="media" autoplay></video>',
    run: async (t, { call, read }) => {
      await call('rewindMedia')
      t.equal(await read('media.autoplay'), false)
    },
  },
  scrollScroller: {
    html: SCROLLER,
    run: async (t, { call, read }) => {
      await call('findScroller')
      await call('scrollScroller', 300)
      t.equal(await read('panel.scrollTop'), 300)
    },
  },
  scrollToMiddle: {
    html: `${TALL}<p id="one">one</p>${TALL}`,
    run: async (t, { call, read }) => {
      await call('scrollToMiddle', '#one')
      t.equal(await read('Math.abs(one.getBoundingClientRect().y - 300) < 20'), true)
    },
  },
  scrollToPosition: {
    html: TALL,
    run: async (t, { call, read }) => {
      await call('scrollToPosition', 0, 70)
      t.equal(await read('scrollY'), 70)
    },
  },
  scrollToTop: {
    html: `${TALL}<p id="one" style="margin:0">one</p>${TALL}`,
    run: async (t, { call, read }) => {
      await call('scrollToTop', '#one', -10)
      t.equal(await read('Math.round(one.getBoundingClientRect().y)'), 10)
    },
  },
  scrollWindow: {
    html: `<style>body { margin: 0 }</style>${TALL}<img loading="lazy">`,
    run: async (t, { call, read }) => {
      t.match(await call('scrollWindow', 100, true), { windowHeight: 600 })
      t.strictSame(await read("[scrollY, document.querySelector('img').loading]"), [100, 'eager'])
    },
  },
  shiftDown: {
    html: '<body style="margin:0"><p id="one" style="margin:0">text</p>',
    run: async (t, { call, read }) => {
      await call('shiftDown', 200)
      t.equal(await read('one.getBoundingClientRect().y'), 200)
      await call('shiftDown', 0)
      t.equal(await read('one.getBoundingClientRect().y'), 0)
    },
  },
  showMiddle: {
    html: `${SQUARE}<body style="margin:0"><div style="width:100px;height:20px;overflow:hidden"><p id="cut" style="width:600px;height:200px;margin:0">text</p></div>
      <div style="height:0" id="around"><p style="float:left;width:60px;height:40px;margin:0;background:red;clip-path:inset(0 0 20px)">text</p></div>`,
    run: async (t, { call }) => {
      t.strictSame(await call('showMiddle', '#one'), { x: 115, y: 70 })
      t.strictSame(await call('showMiddle', '#cut'), { x: 50, y: 10 }, 'of what is shown')
      t.strictSame(await call('showMiddle', '#around'), { x: 30, y: 30 })
    },
  },
  showNextMiddle: {
    html: SQUARE,
    run: async (t, { call }) => {
      t.strictSame(await call('showNextMiddle', '.square', true), { x: 115, y: 70 })
      t.equal(await call('showNextMiddle', '.square', false), null)
      t.ok(await call('showNextMiddle', '.square', true), 'from the first again')
    },
  },
  showPdf: {
    run: async (t, { call }) => {
      await call('showPdf', { base: '/absent/', maxBytes: 1, maxHeight: 0, maxPixels: 1 })
      t.strictSame(await call('readPdfOutcome'), { problem: 'too large' })
    },
  },
  startClock: {
    run: async (t, { call, session, contextId }) => {
      const start = Date.UTC(2026, 0, 15, 12)
      await call('startClock', start)
      const texts =
        "[new Date().toISOString(), Temporal.Now.instant().toString(), Date(), new Intl.DateTimeFormat('en').format()].map((text) => text.slice(0, 15))"
      const expression = `JSON.stringify({ ahead: Date.now() - ${start}, texts: ${texts}, isDate: new Date(5) instanceof Date, kept: +new Date(5), origin: performance.timeOrigin < ${start} })`
      const { result } = await session.send('Runtime.evaluate', { expression, contextId })
      const { ahead, ...facts } = JSON.parse(result.value)
      t.ok(ahead >= 0 && ahead < 60_000, `${ahead}`)
      t.strictSame(facts, {
        texts: ['2026-01-15T12:0', '2026-01-15T12:0', 'Thu Jan 15 2026', '1/15/2026'],
        isDate: true,
        kept: 5,
        origin: true,
      })
      await session.send('Runtime.evaluate', {
        expression: 'new Promise((resolve) => setTimeout(resolve, 30))',
        contextId,
        awaitPromise: true,
      })
      const later = await session.send('Runtime.evaluate', { expression: `Date.now() - ${start}`, contextId })
      t.ok(later.result.value >= ahead + 29, 'the clock runs')
    },
  },
  unfold: {
    html: SCROLLER,
    run: async (t, { call, read }) => {
      t.equal(await call('unfold', { container: 'filling', unlocks: true, pins: false, eager: false, keepsWidth: true }), 'found')
      t.equal(await read('panel.offsetHeight'), 2_000)
      await read(
        `document.body.innerHTML = '<div style="height:100vh"></div>', document.querySelector('div').attachShadow({ mode: 'closed' })`,
      )
      t.equal(await call('unfold', { container: 'filling', unlocks: true, pins: false, eager: false, keepsWidth: true }), 'closed')
    },
  },
  unlock: {
    html: '<html style="overflow:hidden"><body style="position:fixed;top:-90px;width:100%;margin:0"><p>text</p><p style="margin-top:2000px">text</p></body></html>',
    run: async (t, { call, read }) => {
      await call('unlock')
      t.strictSame(await read('[document.body.getBoundingClientRect().top, document.documentElement.scrollHeight > 2000]'), [0, true])
    },
  },
  unpinHeights: { html: TALL, run: async (t, { call }) => t.resolves(call('prepareReveal', 10).then(() => call('unpinHeights', false))) },
  whenIdle: {
    run: async (t, { call, session, read }) => {
      const expression = 'for (let each = 1; each <= 3; each++) requestIdleCallback(() => { document.title = each })'
      await session.send('Runtime.evaluate', { expression })
      await call('whenIdle')
      t.equal(await read('document.title'), '3')
    },
  },
  writeStorage: {
    run: async (t, { call, read }) => {
      await read("localStorage.setItem('a', 'kept')")
      await call('writeStorage', 'http://page.test', { a: 'new', b: 'new' })
      t.strictSame(await read("[localStorage.getItem('a'), localStorage.getItem('b')]"), ['kept', 'new'])
    },
  },
}

for (const [name, { html = '<p>text</p>', run }] of Object.entries(cases)) {
  t.test(`page function ${name}`, async (t) => run(t, await open(/<(!doctype|html)/i.test(html) ? html : `<!doctype html>${html}`)))
}

const PANEL = 'height:600px;overflow-y:auto'
const TALL_FRAME = `<iframe style="position:fixed;inset:0;width:100%;height:100%" srcdoc="<body style='margin:0'>${TALL.replaceAll('"', "'")}"></iframe>`

/** Pages whose video must scroll by 2400 pixels, and where it is scrolled. */
const SCROLLED: Record<string, readonly [html: string, where: string]> = {
  'a page that snaps': [
    `<style>html { scroll-snap-type: y mandatory } div { height: 600px; scroll-snap-align: start }</style>${'<div></div>'.repeat(5)}`,
    'scrollY',
  ],
  'a panel that snaps': [
    `<main id="panel" style="${PANEL};scroll-snap-type:y mandatory">${'<div style="height:600px;scroll-snap-align:start"></div>'.repeat(5)}</main>`,
    'panel.scrollTop',
  ],
  'a panel below a header, so that the page scrolls a little': [
    `<header style="height:60px"></header><main id="panel" style="${PANEL}">${TALL}</main>`,
    'panel.scrollTop',
  ],
  'a panel beside an open menu that nobody sees': [
    `<main id="panel" style="height:500px;overflow-y:auto"><div style="height:2900px"></div></main>
    <nav style="position:fixed;inset:0;overflow-y:auto;opacity:0;pointer-events:none">${TALL}</nav>`,
    'panel.scrollTop',
  ],
  'a panel in a box that scrolls by a border': [
    `<div style="height:600px;overflow:auto"><div style="height:604px"><main id="panel" style="${PANEL}">${TALL}</main></div></div>`,
    'panel.scrollTop',
  ],
  'a page in a frame': [TALL_FRAME, 'frames[0].scrollY'],
  'a panel in a frame': [
    `<iframe style="position:fixed;inset:0;width:100%;height:100%;border:0" srcdoc="<body style='margin:0'><main style='${PANEL}'>${TALL.replaceAll('"', "'")}</main>"></iframe>`,
    'frames[0].document.querySelector("main").scrollTop',
  ],
}

for (const [name, [html, where]] of Object.entries(SCROLLED)) {
  t.test(`a video scrolls ${name}`, async (t) => {
    const { call, read } = await open(`<!doctype html><body style="margin:0">${html}`)
    t.equal((await call('findScroller')).end, 2400)
    await call('scrollScroller', 1234)
    t.equal(await read(where), 1234)
  })
}

t.test('a mask covered what boxes around it hide, and painted no box if the children of its element float', async (t) => {
  const inBox = (style: string, inner: string) => `<div style="height:100px;${style}">${inner}</div>`
  const block = (style = '', name = 'inner') =>
    `<b class="${name}" style="display:block;width:80px;height:40px;background:red;${style}"></b>`
  const { call, read } = await open(`<!doctype html><body style="margin:0">
    <style>.mask b::before { content: 'x'; visibility: visible }</style>
    ${inBox('', `<div class="mask">${block('float:left')}</div>`)}
    ${inBox('', `<div class="mask">${block('position:absolute;margin:10px')}${block('position:fixed;inset:0;opacity:0')}</div>`)}
    ${inBox('', `<p class="mask" style="height:0;margin:0"><canvas width="24" height="40"></canvas></p>`)}
    ${inBox('overflow:hidden;height:30px;margin-bottom:70px', block('', 'mask'))}
    ${inBox('', block('clip-path:inset(10px)', 'mask'))}
    ${inBox('', `<div class="mask" style="height:0;overflow:hidden">${block()}</div>`)}</body>`)
  const boxes = `JSON.stringify([...document.querySelectorAll('[popover] > div')].map((box) => box.getBoundingClientRect()).map(({ x, y, width, height }) => [x, y, width, height]))`
  const expected = [
    [0, 0, 80, 40],
    [10, 110, 80, 40],
    [0, 200, 24, 40],
    [0, 300, 80, 30],
    [10, 410, 60, 20],
  ]
  for (const time of ['at first', 'for the next frame of a video']) {
    t.strictSame(await call('coverMatches', { selectors: ['.mask'], color: 'blue' }), [5], time)
    t.strictSame(JSON.parse(String(await read(boxes))), expected, time)
    const ignored = (await call('findIgnoredBoxes', ['.mask']))[0] ?? []
    t.strictSame(
      ignored.map(({ x, y, width, height }) => [x, y, width, height]),
      expected,
      `areas to ignore ${time}`,
    )
  }
  t.equal(await read("document.querySelector('.mask b').checkVisibility({ opacityProperty: true })"), false, 'generated text is hidden')
})

t.test('the image has the sources of page functions that these tests call', async (t) => {
  const dist = t.testdir()
  await bundleProgram('capture-runner', dist)
  const app = join(dist, 'app')
  const scripts = (await readdir(app)).filter((file) => file.endsWith('.mjs'))
  const texts = await Promise.all(scripts.map((file) => readFile(join(app, file), 'utf8')))
  const [, table = ''] = /\bvar sources\w* = (\{[^\n]*\n(?: {2}[^\n]*\n)*\});/.exec(texts.join('\n')) ?? []
  t.strictSame(new Function(`return ${table}`)(), sources)
})
