/** Makes lazy images and frames load at once. */
export function loadEagerly(): void {
  for (const lazy of document.querySelectorAll<HTMLImageElement>('img[loading=lazy], iframe[loading=lazy]')) lazy.loading = 'eager'
}
