import type { Tab } from '../browser/tab.ts'
import { callInPage } from '../page/call.ts'

/** Whether a video with a sound track is playing in the main frame or in frames of its process. */
export const hasPlayingSound = (tab: Pick<Tab, 'evaluate'>, signal: AbortSignal): Promise<boolean> =>
  callInPage({ tab, signal }, 'hasPlayingSound')
