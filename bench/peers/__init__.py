"""The systems that Reverie is measured beside: installed by ``bench/peers/install``, each in a folder of its own."""
