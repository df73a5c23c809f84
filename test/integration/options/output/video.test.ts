import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { availableParallelism } from 'node:os'
import type { CaptureOptions } from '@tintype/crds/options/catalog'
import t, { type Test } from 'tap'
import { scrollShare } from '../../../../capture-runner/src/plan/video.ts'
import { choose, isFullLength } from '../../../support/length.ts'
import { colorAt, darkColumns, decodeMovie, probeMovie, RULER, scrollPositions } from '../../capture-runner/stage/movie.ts'
import { drawing, serving } from '../../capture-runner/stage/page-server.ts'
import { decode, GREEN, isNear } from '../../capture-runner/stage/pixels.ts'
import { policyWith } from '../../capture-runner/stage/studio.ts'
import { FADING_ROWS, openStage, page, type Shot } from '../options.ts'

/** Black blocks on white that move to the right, one below the other, each by another mechanism. `v`: pixels per second. */
const MOTIONS = ['animation frame', 'timer', 'CSS animation', 'Web Animations'] as const
const moving = (body = ''): string => `<!doctype html><style>
  body { margin: 0; background: #fff; overflow: hidden }
  i { position: absolute; left: 0; width: 60px; height: 30px; background: #000 }
  @keyframes move { to { transform: translateX(calc(var(--v) * 100px)) } }
  #css { animation: move 100s linear infinite }
  iframe { position: absolute; top: 160px; left: 0; width: 640px; height: 160px; border: 0 }
</style><i id=frame style="top:0"></i><i id=timer style="top:40px"></i><i id=css style="top:80px"></i><i id=script style="top:120px"></i>${body}
<script>
  const v = Number(new URLSearchParams(location.search).get('v'))
  document.documentElement.style.setProperty('--v', v)
  let start
  const step = (now) => { start ??= now; frame.style.left = (now - start) * v / 1000 + 'px'; requestAnimationFrame(step) }
  requestAnimationFrame(step)
  const began = performance.now()
  setInterval(() => { timer.style.left = (performance.now() - began) * v / 1000 + 'px' }, 4)
  script.animate([{ transform: 'none' }, { transform: 'translateX(' + v * 100 + 'px)' }], 100_000)
  for (const inner of document.querySelectorAll('iframe')) inner.src = inner.dataset.src + '?v=' + v
</script>`

/** A black image that arrives late. */
const late = (milliseconds: number) => serving('image/svg+xml', drawing('#000', 40), milliseconds)
const HEIGHT = 20_000
const SHORT_HEIGHT = 3_000
/** Top of each lazy image. */
const LAZY = Array.from({ length: 20 }, (_, number) => 500 + number * 1_000)
const tall = (height: number): string => `<!doctype html><style>
  html { scroll-behavior: smooth } body { margin: 0; background: #fff; height: ${height}px }
  header { position: sticky; top: 0; height: 40px; margin-left: 400px; background: #000 }
  img { position: absolute; left: 200px }
</style><header></header>${LAZY.filter((top) => top < height)
  .map((top) => `<img loading=lazy width=40 height=40 style="top:${top}px" src="/late?${top}">`)
  .join('')}<script>${RULER}</script>`

/** A page that shows a stored video, and writes into its title what the browser makes of it. */
const player = (name: string): string => `<!doctype html><body><p>A player.</p><script type="module">
  const video = document.createElement('video')
  Object.assign(video, { src: '${name}', muted: true, playsInline: true })
  document.body.append(video)
  await new Promise((resolve, reject) => { video.onended = resolve; video.onerror = () => reject(video.error); video.play() })
  document.title = JSON.stringify([video.videoWidth, video.videoHeight, Math.round(video.duration * 10) / 10, video.getVideoPlaybackQuality().corruptedVideoFrames])
</script>`

/** Videos that the site serves to {@link player}. */
const served = new Map<string, Buffer>()
const serve =
  (name: string, type: string): RequestListener =>
  (_, response) =>
    void response.writeHead(200, { 'content-type': type }).end(served.get(name))

const WITH_LOCALHOST = policyWith({ allowedHosts: ['localhost'] })
const stage = await openStage(
  t,
  {
    '/moving': moving(),
    '/framed': (_, response) => {
      const inner = `http://localhost:${new URL(stage.site.url('/')).port}/moving`
      response.writeHead(200, { 'content-type': 'text/html' }).end(moving(`<iframe data-src="${inner}"></iframe>`))
    },
    '/tall': tall(HEIGHT),
    '/short': tall(SHORT_HEIGHT),
    // In a closed shadow root, which scripts cannot find.
    '/panel': `<!doctype html><body style="margin:0"><x-shell style="display:block"></x-shell><script>
      const panel = document.querySelector('x-shell').attachShadow({ mode: 'closed' }).appendChild(document.createElement('main'))
      panel.style.cssText = 'height:100vh;overflow:auto;position:relative'
      panel.innerHTML = '<div style="height:3000px"></div>'
      ${RULER.replaceAll('document.documentElement', 'panel').replaceAll('document.body.append', 'panel.append')}</script>`,
    // A bar that is hidden below the top, and parts with an image that the page adds at its end, three times. The last one is black.
    '/unfolding': `<!doctype html><style>
      body { margin: 0; background: #fff }
      header { position: fixed; top: 0; right: 0; width: 100px; height: 40px; background: #000; transition: transform .4s }
      .below header { transform: translateY(-40px) }
      p { position: relative; height: 200px; margin: 0 } p:last-child { background: #000 }
      img { position: absolute; left: 300px; bottom: 0 }
    </style><header></header><div style="height:1000px"></div><script>
      addEventListener('scroll', () => document.body.classList.toggle('below', scrollY > 0))
      let parts = 0
      const observer = new IntersectionObserver((seen) => { if (seen.some(({ isIntersecting }) => isIntersecting) && parts < 3) add() }, { threshold: 1 })
      const add = () => {
        const part = document.createElement('p')
        part.innerHTML = '<img loading=lazy width=40 height=40 src="/later?' + parts++ + '">'
        document.body.append(part)
        observer.observe(part)
      }
      add()</script>`,
    '/later': late(600),
    '/late': late(150),
    '/play-mp4': player('/video.mp4'),
    '/play-webm': player('/video.webm'),
    '/video.mp4': serve('mp4', 'video/mp4'),
    '/video.webm': serve('webm', 'video/webm'),
    '/media': `<!doctype html><body style="margin:0;background:#fff"><video src="/video.mp4" autoplay muted loop style="width:640px"></video>`,
    '/steps': `<!doctype html><meta name=viewport content="width=device-width"><body style="margin:0;background:#fff"><button style="width:200px;height:100px">Start</button>
      <style>i { position: absolute; left: 0; top: 200px; width: 60px; height: 30px; background: #000 }</style><i hidden></i><script>
      document.querySelector('button').addEventListener('click', () => { document.querySelector('i').hidden = false })
      addEventListener('keydown', ({ key }) => { if (key === 'ArrowRight') document.querySelector('i').style.left = '300px' })</script>`,
    '/fading-rows': FADING_ROWS,
    '/red': page('background:#ff0000', '<h1>Red</h1>'),
    '/noise': `<!doctype html><body style="margin:0"><canvas width=640 height=360></canvas><script>
      const context = document.querySelector('canvas').getContext('2d')
      const draw = () => {
        const image = context.createImageData(640, 360)
        for (let at = 0; at < image.data.length; at++) image.data[at] = at % 4 === 3 ? 255 : Math.random() * 255
        context.putImageData(image, 0, 0)
        requestAnimationFrame(draw)
      }
      draw()</script>`,
  },
  { video: true },
)

const WINDOW = { viewportWidth: 640, viewportHeight: 360 } as const
const SHORT = { ...WINDOW, format: 'mp4', videoDuration: 1, videoFps: 30 } as const satisfies CaptureOptions

const fileOf = ({ video }: Shot): string => video?.file ?? 'the capture has no video'

/** Every block is where its frame should show it, so no frame is lost, doubled or late. */
async function isExact(
  t: Test,
  file: string,
  { frames, pixels, tops }: { frames: number; pixels: number; tops: [name: string, top: number][] },
) {
  const movie = await decodeMovie(file)
  t.equal(movie.count, frames, 'every frame is there')
  for (const [name, top] of tops) {
    const columns = darkColumns(movie, top)
    // Each frame may be a pixel off, the first one too.
    const offsets = columns.map((x, frame) => x - frame * pixels)
    t.ok(Math.max(...offsets) - Math.min(...offsets) <= 2, `${name} is right to a pixel: ${columns.join(' ')}`)
  }
}

const ALL = MOTIONS.map((name, number): [string, number] => [name, 15 + 40 * number])

// proves: video_poster
t.test('option format: mp4, webm and gif have the size, the frames and the colors of the page', async (t) => {
  const expected = { mp4: ['h264', 'yuv420p', 'bt709/tv'], webm: ['vp9', 'yuv420p', 'bt709/tv'], gif: ['gif', 'bgra', '/pc'] }
  for (const format of ['mp4', 'webm', 'gif'] as const) {
    const shot = await stage.shoot('/red', { ...SHORT, format, videoPoster: format === 'mp4' })
    const [codec, pixelFormat, colors] = expected[format]
    const { video } = shot
    const facts = await probeMovie(fileOf(shot))
    t.match(facts, { codec, width: 640, height: 360, frames: 30, pixelFormat }, format)
    if (format !== 'gif') t.equal(facts.colors, colors)
    t.ok(Math.abs(facts.seconds - 1) < 0.02, `${format} lasts ${facts.seconds} s`)
    t.match(video, { width: 640, height: 360, frames: 30, fps: 30 })
    for (const frame of [0, 29]) t.ok(isNear(await colorAt(fileOf(shot), frame, 500, 300), [255, 0, 0], 4), `${format} is red`)
    const poster = shot.findings.files.get('poster')
    t.equal(poster !== undefined, format === 'mp4')
    if (!poster) continue
    const first = await decode(poster)
    t.match(first, { format: 'jpeg', width: 640, height: 360 })
    t.ok(isNear(first.at(500, 300), [255, 0, 0]))
  }
})

t.test('option format: browsers play mp4 and webm to the end, and a gif repeats', async (t) => {
  for (const format of ['mp4', 'webm'] as const) {
    served.set(format, await readFile(fileOf(await stage.shoot('/moving?v=300', { ...SHORT, format }))))
    const told = await stage.ask(`/play-${format}`, { waitForFunction: 'document.title !== ""' })
    t.strictSame(told, [640, 360, 1, 0], format)
  }
  const gif = await readFile(fileOf(await stage.shoot('/moving?v=300', { ...SHORT, format: 'gif', videoFps: 10 })))
  // The extension by which a gif repeats without end: a sub-block of 3 bytes with count 0.
  t.ok(gif.includes(Buffer.from('NETSCAPE2.0\x03\x01\x00\x00\x00', 'latin1')))
})

t.test('option video_timing: both record a video element of the page', async (t) => {
  served.set('mp4', await readFile(fileOf(await stage.shoot('/moving?v=300', { ...SHORT, videoDuration: 2, videoQuality: 90 }))))
  for (const videoTiming of ['exact', 'real'] as const) {
    const shot = await stage.shoot('/media', {
      ...SHORT,
      videoTiming,
      videoFps: 10,
      waitForFunction: 'document.querySelector("video").currentTime > 0',
    })
    const columns = darkColumns(await decodeMovie(fileOf(shot)), 15)
    t.equal(columns.length, 10)
    t.ok(new Set(columns).size >= 3, `${videoTiming}: it moves ${columns.join(' ')}`)
  }
})

t.test('a video is recorded after the steps of other options', async (t) => {
  const options = {
    ...SHORT,
    videoFps: 5,
    device: 'iPhone 13',
    click: 'button',
    pressKey: 'ArrowRight',
    locale: 'de-DE',
    delay: 300,
  } as const
  const shot = await stage.shoot('/steps', { ...options, ...WINDOW, deviceScaleFactor: 1 })
  const columns = darkColumns(await decodeMovie(fileOf(shot)), 215)
  t.ok(
    columns.every((x) => Math.abs(x - 300) <= 1),
    columns.join(' '),
  )
})

t.test('option video_timing: exact is as exact while other programs use every processor', async (t) => {
  // More loops take processors from the tests of the other lanes, too.
  const loops = Array.from({ length: isFullLength ? 8 : availableParallelism() }, () =>
    spawn(process.execPath, ['-e', 'for (;;) {}'], { env: {}, stdio: 'ignore' }),
  )
  try {
    const shot = await stage.shoot('/moving?v=150', { ...SHORT, videoFps: 15, videoQuality: 90 })
    await isExact(t, fileOf(shot), { frames: 15, pixels: 10, tops: ALL })
  } finally {
    for (const loop of loops) loop.kill('SIGKILL')
  }
})

for (const pixels of choose([1, 10], (pixels) => pixels === 10)) {
  t.test(`option video_timing: exact moves ${pixels} pixels from each frame to the next, also in a frame of another site`, async (t) => {
    const shot = await stage.shoot(`/framed?v=${pixels * 30}`, { ...SHORT, videoQuality: 90 }, { policy: WITH_LOCALHOST })
    const inner = ALL.map(([name, top]): [string, number] => [`${name} in the frame`, top + 160])
    await isExact(t, fileOf(shot), { frames: 30, pixels, tops: [...ALL, ...inner] })
  })
}

t.test('option video_timing: real records at the speed of the page', async (t) => {
  const shot = await stage.shoot('/moving?v=100', { ...SHORT, videoTiming: 'real', videoFps: 10 })
  const movie = await decodeMovie(fileOf(shot))
  t.equal(movie.count, 10)
  const columns = darkColumns(movie, 95)
  // The time of an animation is that of its frame, even if the frame comes late. Repeated frames show the one before.
  const errors = columns.map((x, frame) => x - (columns[0] ?? 0) - frame * 10)
  t.ok(Math.max(...errors) <= 1, `no frame is early: ${columns.join(' ')}`)
  t.strictSame(
    columns.toSorted((a, b) => a - b),
    columns,
  )
})

// proves: video_duration, video_fps
t.test('option video_width: scales the video, and the height follows', async (t) => {
  const small = await stage.shoot('/red', { ...SHORT, videoDuration: 2, videoFps: 5, videoWidth: 321 })
  t.match(await probeMovie(fileOf(small)), { width: 322, height: 182, frames: 10, rate: '5/1', seconds: 2 }, 'a movie has even sides')
  const gif = await stage.shoot('/red', { ...SHORT, videoFps: 60, format: 'gif', videoWidth: 321 })
  t.match(await probeMovie(fileOf(gif)), { width: 321, height: 181, frames: 50, rate: '50/1' })
  t.match(gif.findings.warnings, [/^video_fps is 50/])
  const odd = await stage.shoot('/red', { ...SHORT, videoFps: 5, viewportWidth: 333, viewportHeight: 201 })
  t.match(await probeMovie(fileOf(odd)), { width: 334, height: 202 })
  t.ok(isNear(await colorAt(fileOf(odd), 2, 332, 200), [255, 0, 0], 4), 'the added pixels show the page, too')
})

t.test('option video_quality: a higher quality makes a larger file', async (t) => {
  for (const format of ['mp4', 'webm'] as const) {
    const sizes: number[] = []
    for (const videoQuality of choose([0, 70, 100], (quality) => quality !== 70)) {
      const { video } = await stage.shoot('/noise', {
        ...SHORT,
        viewportWidth: 320,
        viewportHeight: 180,
        format,
        videoFps: 5,
        videoQuality,
      })
      sizes.push(video?.bytes ?? 0)
    }
    const isRising = sizes.every((size, index) => index === 0 || size > sizes[index - 1]!)
    t.ok(isRising, `${format}: ${sizes.join(' < ')} bytes`)
  }
})

const END = HEIGHT - WINDOW.viewportHeight
const SHORT_END = SHORT_HEIGHT - WINDOW.viewportHeight

t.test('option video_scenario: scroll shows the whole page, with late images and what sticks to the window', async (t) => {
  const fps = isFullLength ? 60 : 15
  const shot = await stage.shoot('/tall', { ...SHORT, videoFps: fps, videoDuration: 3, videoScenario: 'scroll' })
  const movie = await decodeMovie(fileOf(shot))
  t.equal(movie.count, 3 * fps)
  const times = { pause: 500, scroll: 2_000, easing: 'ease_in_out', back: false } as const
  const positions = scrollPositions(movie)
  const errors = positions.map((top, frame) => Math.abs(top - END * scrollShare(times, (frame * 1_000) / fps)))
  t.ok(Math.max(...errors) <= 1, `right to a pixel: ${errors.map((error) => error.toFixed(1)).join(' ')}`)
  const frames = positions.map((_, frame) => frame)
  t.strictSame(
    frames.filter((frame) => movie.brightness(frame, 500, 20) > 100),
    [],
    'the header is always at the top',
  )
  const missing = frames.flatMap((frame) => {
    const tops = LAZY.map((top) => top - (positions[frame] ?? 0)).filter((top) => top >= 0 && top < WINDOW.viewportHeight - 40)
    return tops.filter((top) => movie.brightness(frame, 220, Math.round(top) + 20) > 100).map((top) => `${frame}: ${top}`)
  })
  t.strictSame(missing, [], 'every image is there when it comes into view')
  t.strictSame(shot.findings.warnings, [])
})

t.test('rows that fade in one after the other, beside a clock, were missing in pictures of runners that record videos', async (t) => {
  for (let capture = 0; capture < 2; capture++) {
    const { pixels } = await stage.shoot('/fading-rows', WINDOW)
    for (let row = 0; row < 5; row++) t.ok(isNear(pixels.at(400, 40 * row + 20), GREEN), `row ${row}: ${pixels.at(400, 40 * row + 20)}`)
  }
})

t.test('option video_scenario: scroll scrolls the panel of a page that has one', async (t) => {
  const shot = await stage.shoot('/panel', { ...SHORT, videoFps: 10, videoScenario: 'scroll', videoScrollPause: 100 })
  const positions = scrollPositions(await decodeMovie(fileOf(shot)))
  t.equal(positions[0], 0)
  t.equal(positions.at(-1), 3_000 - WINDOW.viewportHeight)
  const still = await stage.shoot('/red', { ...SHORT, videoFps: 5, videoScenario: 'scroll', videoScrollPause: 100 })
  t.match(still.findings.warnings, [/^the page does not scroll/])
})

t.test(
  'option video_scenario: scroll begins with the bar of the top, and ends at the end of a page that grows, with its images',
  async (t) => {
    const shot = await stage.shoot('/unfolding', { ...SHORT, videoFps: 10, videoScenario: 'scroll', videoScrollPause: 100 })
    const { brightness } = await decodeMovie(fileOf(shot))
    t.ok(brightness(0, 630, 5) < 100, 'the bar is back in the first frame')
    t.ok(brightness(9, 100, 350) < 100, 'the last frame shows the last part')
    t.ok(brightness(9, 320, 140) < 100, 'the image above it has arrived')
  },
)

// proves: video_scroll_easing, video_scroll_back, video_scroll_pause, video_scroll_duration
t.test('a scroll rests before it, takes its time with the speed curve, rests at the end of the page, and goes back', async (t) => {
  const shot = await stage.shoot('/short', {
    ...{ ...SHORT, videoDuration: 2, videoFps: 10, videoScenario: 'scroll', videoScrollEasing: 'ease_in' },
    ...{ videoScrollPause: 200, videoScrollDuration: 400, videoScrollBack: true },
  })
  const positions = scrollPositions(await decodeMovie(fileOf(shot)))
  for (const [frame, share, what] of [
    [2, 0, 'after the pause'],
    [4, 0.125, 'on the way down'],
    [6, 1, 'at the end of the page'],
    [8, 1, 'after the pause at the end'],
    [10, 0.875, 'on the way back'],
    [12, 0, 'at the top again'],
  ] as const)
    t.ok(Math.abs((positions[frame] ?? Number.NaN) - share * SHORT_END) <= 1, `${what}: ${positions[frame]} of ${SHORT_END}`)
})
