import { findMatches } from '../shared/tree.ts'

/** Makes lazy images and frames load at once. */
export function loadEagerly(): void {
  for (const lazy of findMatches('img[loading=lazy], iframe[loading=lazy]') as HTMLImageElement[]) lazy.loading = 'eager'
}
