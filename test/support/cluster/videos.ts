import { type Browser, chromium } from 'playwright'
import { absolute, call, type RecordBody, whenFinished } from './api-client.ts'

// Videos in the REST API, and their playback.

/** The fields of a video's record that tests read. */
export interface VideoBody extends RecordBody {
  format: string
  width: number
  height: number
  duration_ms: number
  fps: number
  frames: number
  attempts: number
  artifacts: { type: string; download_url: string }[]
}

/** Starts a recording and resolves to its id. `key`: of the account; default: the first one. */
export async function startVideo(url: string, options: object, key?: string): Promise<string> {
  const { body, status } = await call<VideoBody>('/api/v1/videos', {
    method: 'POST',
    body: { url, options },
    ...(key === undefined ? {} : { key }),
  })
  if (status !== 202) throw new Error(`the response to the video was ${status}: ${JSON.stringify(body)}`)
  return body.id
}

/** Waits until a recording has finished. */
export const finishedVideo = (id: string, { milliseconds = 180_000, key }: { milliseconds?: number; key?: string } = {}) =>
  whenFinished<VideoBody>(`videos/${id}`, milliseconds, key)

/** What the test uses of a video element. */
interface Player {
  playbackRate: number
  duration: number
  videoWidth: number
  videoHeight: number
  error: { message: string } | null
  onended: () => void
  onerror: () => void
  play: () => Promise<void>
}

export const launchPlayer = (): Promise<Browser> =>
  chromium.launch({
    executablePath: '/usr/bin/chromium-headless-shell',
    args: ['--no-sandbox', '--autoplay-policy=no-user-gesture-required'],
  })

/** Plays the file behind a link in a browser until its end, at four times its speed. The picture shows the last frame. */
export async function play(browser: Browser, link: string) {
  const page = await browser.newPage({ viewport: { width: 800, height: 800 } })
  try {
    await page.setContent(`<body style="margin:0"><video muted style="display:block" src="${absolute(link)}"></video>`)
    const played = await page.locator('video').evaluate(async (element) => {
      const video = element as unknown as Player
      video.playbackRate = 4
      const end = new Promise<boolean>((resolve, reject) => {
        video.onended = () => resolve(true)
        video.onerror = () => reject(new Error(`the browser cannot play it: ${video.error?.message}`))
        setTimeout(() => resolve(false), 60_000)
      })
      await video.play()
      return { ended: await end, seconds: video.duration, width: video.videoWidth, height: video.videoHeight }
    })
    return { ...played, picture: await page.locator('video').screenshot() }
  } finally {
    await page.close()
  }
}
