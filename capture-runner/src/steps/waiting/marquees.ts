import { inDocument } from '../in-document.ts'
import type { Work } from '../step.ts'
import { pauseMarquees } from '../whole-page.ts'
import { nextFrame } from './next-frame.ts'

/** A `<marquee>` starts to move with a frame, which a busy machine may draw late. One that does not move never gets an animation. */
const FRAMES = 2
const FRAME_MILLISECONDS = 1_000

/** Brings each `<marquee>` to rest. An endless one would look different in each picture. */
export async function restMarquees(work: Work): Promise<void> {
  for (let frames = 0; !(await inDocument(work, true, () => pauseMarquees(work))) && frames < FRAMES; frames++)
    await nextFrame(work, FRAME_MILLISECONDS)
}
