import type { Color } from '../../plan/picture.ts'
import { awaitResponse } from '../../runtime/race.ts'
import type { Work } from '../step.ts'

export const TRANSPARENT: Color = { r: 0, g: 0, b: 0, alpha: 0 }

/** Sets the background of pages that set none. */
export async function paintCanvas({ tab, signal }: Pick<Work, 'tab' | 'signal'>, { r, g, b, alpha }: Color): Promise<void> {
  await awaitResponse(tab.session.send('Emulation.setDefaultBackgroundColorOverride', { color: { r, g, b, a: alpha } }), signal)
}
